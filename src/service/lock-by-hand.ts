import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { PermanentError } from '../errors.ts';
import { holdSession } from '../jobs/session-lock.ts';
import { NotYet } from '../queue/queue.ts';
import type { Redactor } from '../redact/redactor.ts';
import { type Backend, openBackend } from './backend.ts';

export interface LockByHand {
  config: Config;
  queueUrl: string;
  sessionId: string;
  runId: string;
  signal: AbortSignal;
  log: Logger;
  redactor: Redactor;
  /** Hears what a person should know. */
  tell: (words: string) => void;
}

/** Runs `work` while no worker is at the same session, as far as there is a database that could tell. */
export async function lockByHand<T>(
  options: LockByHand,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { sessionId, runId, signal, log } = options;
  const backend = await openShared(options);
  if (!backend) return work(signal);
  try {
    const { records } = backend;
    return await holdSession({ records, log }, sessionId, { id: runId, signal }, (held) => work(held.signal));
  } catch (error) {
    if (error instanceof NotYet) throw new PermanentError(`${error.message}; try again when it is done`);
    throw error;
  } finally {
    await backend.close();
  }
}

async function openShared({ config, queueUrl, log, redactor, tell }: LockByHand): Promise<Backend | null> {
  const embedded = /^pglite:(.*)$/.exec(queueUrl)?.[1];
  // No service has ever run on it.
  if (embedded !== undefined && !existsSync(embedded)) return null;
  try {
    return await openBackend(queueUrl, config.queue, { log, redactor });
  } catch (error) {
    if (error instanceof PermanentError)
      throw new PermanentError(`${error.message} Without --post nothing has to be shared with it.`, {
        cause: error,
      });
    tell(`The database is away, so a worker may write the same note: ${(error as Error).message}`);
    return null;
  }
}
