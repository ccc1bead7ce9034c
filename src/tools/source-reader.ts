import { finished, Readable } from 'node:stream';
import { RedactionError, type Redactor } from '../redact/redactor.ts';
import type { SourceTool } from '../sources/source.ts';
import { createLogPreview, type LogPreview } from './log-preview.ts';
import { checkArguments } from './tool.ts';
import { toGap } from './tool-error.ts';

export type Answer =
  | { kind: 'json'; value: unknown }
  /** Read it to its end, or destroy it. */
  | { kind: 'stream'; body: Readable; openPreview: OpenPreview | null };

/** Of the log of a job. Whoever opens it closes it. */
export type OpenPreview = (maxBytes: number) => LogPreview;

export interface Reading {
  signal: AbortSignal;
  /** Nothing is seen, cut or chosen of an answer before its secrets are gone. */
  redactor: Redactor;
}

/** Asks a source. Whatever fails, now or while its stream is read, is a `ToolError` that names the tool. */
export async function readSource(
  tool: SourceTool,
  args: unknown,
  { signal, redactor }: Reading,
): Promise<Answer> {
  const checked = checkArguments(tool, args);
  try {
    const answer = await tool.read(checked, signal);
    if (answer.kind === 'json') return { kind: 'json', value: redactor.value(answer.value) };
    const body = typeof answer.body === 'string' ? Readable.from([Buffer.from(answer.body)]) : answer.body;
    const { findPassing = async () => null } = answer;
    const openPreview: OpenPreview = (maxBytes) => createLogPreview({ maxBytes, findPassing, signal });
    const named = withNamedFailure(tool.name, body, redactor);
    return { kind: 'stream', body: named, openPreview: answer.of === 'log' ? openPreview : null };
  } catch (error) {
    throw error instanceof RedactionError ? error : toGap(tool.name, error);
  }
}

function withNamedFailure(name: string, source: Readable, redactor: Redactor): Readable {
  const named = redactor.stream();
  finished(source, { writable: false }, (error) => {
    if (error) named.destroy(toGap(name, error));
  });
  // Before anybody reads, a failure must not end the process; the reader is still told of it.
  named.on('error', () => undefined);
  named.once('close', () => source.destroy());
  return source.pipe(named);
}
