import type { Redactor } from '../redact/redactor.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SourceTool } from '../sources/source.ts';
import { createAnswerHash, type OnAnswerFile } from './answer-files.ts';
import { toJsonShape } from './json-shape.ts';
import { toJsonText } from './json-text.ts';
import { DATA_FOLDER, toKeptPath } from './kept-path.ts';
import { createNumbering } from './numbering.ts';
import { type Answer, readSource } from './source-reader.ts';
import { toRightCall } from './tool.ts';
import { ToolError } from './tool-error.ts';
import { watchChunks } from './watch-chunks.ts';

export interface FetchRequest {
  tool: string;
  args?: Record<string, unknown> | undefined;
  path?: string | undefined;
}

/** The shape is that of JSON, the evidence that of a log. */
export type Saved = { saved_to: string; bytes: number; shape?: string; evidence?: string };

/** Of what the model sees at once; the rest it can look up. */
export interface FetchLimits {
  maxShapeBytes: number;
  maxEvidenceBytes: number;
}

/** Puts a source's answer into a file of the sandbox. */
export type Fetch = (
  request: FetchRequest,
  signal: AbortSignal,
  options: FetchLimits & { onAnswerFile: OnAnswerFile },
) => Promise<Saved>;

export function createFetch(sandbox: Sandbox, sourceTools: readonly SourceTool[], redactor: Redactor): Fetch {
  const numbering = createNumbering(sandbox, DATA_FOLDER, /-(\d+)\.(?:json|txt)/);
  /** Paths that are being written: two calls at the same time must not write into one file. */
  const busy = new Set<string>();

  return async ({ tool: name, args = {}, path: wanted }, signal, options) => {
    const filing = { ...options, tool: name, args };
    const tool = sourceTools.find((one) => one.name === name);
    if (!tool) throw toUnknownSource(name, sourceTools);
    // Before the source is asked: calls run at the same time, and which of them is first must not show.
    if (wanted !== undefined) {
      const path = claim(toKeptPath(wanted));
      const saving = readSource(tool, args, { signal, redactor }).then((answer) =>
        save(answer, path, filing),
      );
      return saving.finally(() => busy.delete(path));
    }
    const number = numbering.next();
    const answer = await readSource(tool, args, { signal, redactor });
    const end = `${name}-${await number}.${answer.kind === 'json' ? 'json' : 'txt'}`;
    return save(answer, `${DATA_FOLDER}/${end}`, filing);
  };

  function claim(path: string): string {
    if (busy.has(path)) throw new ToolError(`${path} is just being written by another call`);
    busy.add(path);
    return path;
  }

  async function save(answer: Answer, path: string, filing: Filing): Promise<Saved> {
    const { tool, args, onAnswerFile } = filing;
    const hash = createAnswerHash();
    if (answer.kind === 'json') {
      const text = Buffer.from(toJsonText(answer.value));
      hash.add(text);
      const bytes = await sandbox.writeFile(path, text);
      onAnswerFile(hash.toFile(path, { tool, args, kind: 'json' }));
      return { saved_to: path, bytes, shape: toJsonShape(answer.value, filing.maxShapeBytes) };
    }
    const { body } = answer;
    const log = answer.openPreview?.(filing.maxEvidenceBytes);
    try {
      const bytes = await sandbox.writeFile(path, watchChunks(body, hash, ...(log ? [log] : [])));
      onAnswerFile(hash.toFile(path, { tool, args, kind: log ? 'log' : 'text' }));
      if (!log) return { saved_to: path, bytes };
      const evidence = await log.toText(`all is in ${path}`);
      return { saved_to: path, bytes, evidence };
    } finally {
      log?.close();
      body.destroy();
    }
  }
}

interface Filing extends FetchLimits {
  tool: string;
  args: Record<string, unknown>;
  onAnswerFile: OnAnswerFile;
}

function toUnknownSource(name: string, sourceTools: readonly SourceTool[]): ToolError {
  return new ToolError(`${name} is not a data source that can be fetched`, {
    right_calls: sourceTools.map((tool) => toRightCall(tool)),
  });
}
