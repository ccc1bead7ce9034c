// Parsing megabytes of XML takes seconds, in which nothing else of the process would go on.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { untilAborted } from '../../deadline.ts';
import { PermanentError } from '../../errors.ts';

/** A function of one text, which another thread finds by the file it is exported from. */
export interface Reader<T> {
  read(xml: string): T;
  /** Of the file, and the name under which it exports `read`. */
  module: URL;
  name: string;
}

/** Up to this many characters it is quicker to parse than to start a thread. */
const MAX_HERE = 200_000;
const MAX_THREAD_MB = 1_024;

let last: Promise<unknown> = Promise.resolve();

/** What `read` makes of the text, the process not being held up by it. Throws PermanentError or the signal's reason. */
export async function readInThread<T>(reader: Reader<T>, xml: string, signal: AbortSignal): Promise<T> {
  if (xml.length <= MAX_HERE) return reader.read(xml);
  // One at a time, for the memory that each needs.
  const turn = last.then(() => runThread(reader, xml, signal));
  last = turn.catch(() => undefined);
  return untilAborted(turn, signal);
}

async function runThread<T>({ module, name }: Reader<T>, xml: string, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./reader-thread.ts', import.meta.url), {
    workerData: { module: module.href, name, xml },
    resourceLimits: { maxOldGenerationSizeMb: MAX_THREAD_MB },
    execArgv: [],
    // It needs none of our secrets.
    env: {},
  });
  try {
    const [outcome] = (await once(worker, 'message', { signal })) as [Outcome];
    if (outcome.kind === 'failed') throw new PermanentError(outcome.message);
    return outcome.value as T;
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof PermanentError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PermanentError(`can not be read (${xml.length} characters): ${why}`, { cause });
  } finally {
    await worker.terminate();
  }
}

export type Outcome = { kind: 'read'; value: unknown } | { kind: 'failed'; message: string };
