import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { RetryableError } from '../../errors.ts';
import { SandboxFullError } from '../sandbox.ts';
import { type Container, ContainerLostError } from './container.ts';
import { BROKEN_OFF, readOutput, toFrame } from './frames.ts';
import { type FileVerb, toFileCommand } from './programs.ts';

export interface FileRequest {
  verb: FileVerb;
  request: Record<string, unknown>;
  /** What follows the request on standard input. */
  input?: AsyncIterable<Buffer>;
}

const answerSchema = z.union([
  z.object({ full: z.literal(true) }),
  z.object({ problem: z.string() }),
  z.object({ missing: z.boolean().default(false) }),
]);

/** A connection on which nothing has moved for so long is given up. No source keeps us waiting as long. */
const IDLE_MS = 300_000;
const MAX_ANSWER_CHARS = 10_000;

/**
 * One conversation with `files.py`: gives the content it sends, at the reader's pace, and at last its answer. Throws
 * the input's own error, `SandboxFullError` when there is no room, and `ContainerLostError`.
 */
export async function* askFiles(
  container: Container,
  { verb, request, input = Readable.from([]) }: FileRequest,
): AsyncGenerator<Buffer, { missing: boolean }> {
  const { connection } = await container.open(toFileCommand(verb));
  if (connection instanceof Socket) connection.setTimeout(IDLE_MS, () => connection.destroy());
  const inputErrors: unknown[] = [];
  const frames = Readable.from(withRequest(request, input, inputErrors), { objectMode: false });
  // If the connection breaks, the one who reads it is told.
  pipeline(frames, connection, { end: false }).catch(() => undefined);

  let said = '';
  try {
    for await (const { stream, bytes } of readOutput(connection)) {
      if (stream === 'stdout') yield bytes;
      else if (said.length < MAX_ANSWER_CHARS) said += bytes;
    }
  } catch (error) {
    said += error;
  }
  if (inputErrors.length > 0) throw inputErrors[0];
  const answer = toAnswer(said);
  if (answer) return answer;
  if (!(await container.isRunning()))
    throw new ContainerLostError('the container ended while files were moved');
  throw new RetryableError(`the sandbox could not ${verb} files: ${said || 'it said nothing'}`);
}

async function* withRequest(request: unknown, input: AsyncIterable<Buffer>, errors: unknown[]) {
  yield toFrame(JSON.stringify(request));
  try {
    yield* input;
  } catch (error) {
    errors.push(error);
    yield BROKEN_OFF;
  }
}

function toAnswer(said: string): { missing: boolean } | null {
  const parsed = answerSchema.safeParse(parseJson(said));
  if (!parsed.success) return null;
  if ('full' in parsed.data)
    throw new SandboxFullError('The sandbox is full: there is no room for more. Remove files or write less.');
  if ('problem' in parsed.data) throw new Error(`In the sandbox: ${parsed.data.problem}`);
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
