import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { toWords, withWords } from '../ending-words.ts';
import type { ExecEnding, ExecOptions, ExecResult } from '../sandbox.ts';
import { type Container, ContainerLostError, type Process } from './container.ts';
import { readOutput, toFrame } from './frames.ts';
import { RUN } from './programs.ts';

/** What `supervisor.py` tells of a command; the code is negative after a signal. */
const reportSchema = z.object({
  code: z.int(),
  timedOut: z.boolean(),
  outOfMemory: z.boolean(),
  truncated: z.boolean(),
});

type Report = z.infer<typeof reportSchema>;

/** The supervisor ends a command in time. After this, the command must have ended its supervisor. */
const GRACE_MS = 2_000;
/** What was told to end and has not by then never will. */
const STUCK_MS = 10_000;
/** Room for the report behind what the command wrote. */
const REPORT_BYTES = 1_024;

/** Throws the signal's reason when aborted, and `ContainerLostError` when the container can not go on. */
export async function runCommand(
  container: Container,
  command: string,
  { timeoutMs, maxOutputBytes, signal }: ExecOptions,
): Promise<ExecResult> {
  const mark = randomUUID();
  const process = await container.open(RUN);
  const { connection } = process;
  let stuck: NodeJS.Timeout | undefined;
  const stop = () => {
    stuck ??= setTimeout(() => connection.destroy(), STUCK_MS);
    container.endProcesses().catch((error) => connection.destroy(error));
  };
  const late = setTimeout(stop, timeoutMs + GRACE_MS);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    connection.write(toFrame(JSON.stringify({ command, timeoutMs, maxOutputBytes, mark })));
    const output = await collect(connection, maxOutputBytes + REPORT_BYTES, stop);
    if (!output.isWhole && (await container.isRunning()))
      throw new ContainerLostError('a command can not be ended');
    signal.throwIfAborted();
    const report = takeReport(output, mark) ?? (await findOut(container, process));
    return toResult(output, report, { timeoutMs, maxOutputBytes });
  } finally {
    clearTimeout(late);
    clearTimeout(stuck);
    signal.removeEventListener('abort', stop);
  }
}

type Limits = Pick<ExecOptions, 'timeoutMs' | 'maxOutputBytes'>;

interface Collected {
  stdout: Buffer;
  stderr: Buffer;
  /** More came than the supervisor lets through. */
  isFlood: boolean;
  /** The connection was closed as it should be. */
  isWhole: boolean;
}

async function collect(connection: Duplex, maxBytes: number, onFlood: () => void): Promise<Collected> {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const room = { stdout: maxBytes, stderr: maxBytes };
  let isFlood = false;
  let isWhole = true;
  try {
    for await (const { stream, bytes } of readOutput(connection)) {
      if (bytes.length > room[stream] && !isFlood) onFlood();
      isFlood ||= bytes.length > room[stream];
      const kept = bytes.subarray(0, room[stream]);
      room[stream] -= kept.length;
      if (kept.length > 0) chunks[stream].push(kept);
    }
  } catch {
    isWhole = false;
  }
  const [stdout, stderr] = [Buffer.concat(chunks.stdout), Buffer.concat(chunks.stderr)];
  return { stdout, stderr, isFlood, isWhole };
}

/** Takes the report off the end of what was written. */
function takeReport(output: Collected, mark: string): Report | null {
  const at = output.stderr.lastIndexOf(mark);
  if (at === -1) return null;
  const text = output.stderr.subarray(at + mark.length).toString();
  output.stderr = output.stderr.subarray(0, at);
  try {
    return reportSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** What can be said of a command whose supervisor is gone. */
async function findOut(container: Container, { exitCode }: Process): Promise<Report> {
  if (!(await container.isRunning())) throw new ContainerLostError('the container ended under a command');
  await container.endProcesses();
  const code = await exitCode();
  // Unless somebody has ended it, it could not even begin: perhaps there are no more processes to be had.
  if (code === null || code <= 128)
    throw new ContainerLostError('no command can be started in the container');
  return { code: 128 - code, timedOut: false, outOfMemory: false, truncated: false };
}

function toResult(output: Collected, report: Report, { timeoutMs, maxOutputBytes }: Limits): ExecResult {
  const { code, timedOut } = report;
  const truncated = report.truncated || output.isFlood;
  const toText = (bytes: Buffer) => cutText(bytes.subarray(0, maxOutputBytes), truncated);
  const ending = toEnding(report);
  const exitCode = timedOut ? 124 : code < 0 ? 128 - code : code;
  const words = toWords(ending, { timeoutMs, signal: toSignalName(-code) });
  return {
    exitCode,
    stdout: toText(output.stdout),
    stderr: withWords(toText(output.stderr), words),
    ending,
    truncated,
  };
}

function toEnding({ code, timedOut, outOfMemory }: Report): ExecEnding {
  if (timedOut) return 'timed-out';
  if (outOfMemory) return 'out-of-memory';
  return code < 0 ? 'signal' : 'exited';
}

function toSignalName(number: number): string {
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
  return name ?? `signal ${number}`;
}

/** What was cut may end within a character, which is then dropped. */
function cutText(bytes: Buffer, isCut: boolean): string {
  return isCut ? new StringDecoder('utf8').write(bytes) : bytes.toString();
}
