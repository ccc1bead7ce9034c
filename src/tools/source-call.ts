import type { Redactor } from '../redact/redactor.ts';
import type { SourceTool } from '../sources/source.ts';
import { readSource } from './source-reader.ts';
import type { Kept, Spill } from './spill.ts';
import { createTool, type Tool } from './tool.ts';

/** A source's tool called by its own name: the answer inline, or a preview and where all of it is. */
export function createSourceCall(
  tool: SourceTool,
  { spill, redactor, maxInlineBytes }: { spill: Spill; redactor: Redactor; maxInlineBytes: number },
): Tool {
  return createTool<never>({ ...tool, isSource: true }, async (args, signal, { onAnswerFile }) => {
    const file = { path: spill.reserve(), tool: tool.name, args, onAnswerFile };
    const answer = await readSource(tool, args, { signal, redactor });
    if (answer.kind === 'stream') return toResult(await spill.keepStream(answer, file));
    const isSmall = Buffer.byteLength(JSON.stringify(answer.value) ?? '') <= maxInlineBytes;
    return isSmall ? { result: answer.value } : toResult(await spill.keepJson(answer.value, file));
  });
}

function toResult(kept: Kept): Record<string, unknown> {
  if (kept.kind === 'whole') return { result: kept.text };
  const { preview, path, bytes } = kept;
  return { preview, ...(path !== undefined && { saved_to: path }), bytes };
}
