// Database, records and queue together: what the service needs and what may be away for a while.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { openDatabase } from '../database/open-database.ts';
import { PermanentError, RetryableError } from '../errors.ts';
import { openQueue } from '../queue/open-queue.ts';
import type { JobQueue } from '../queue/queue.ts';
import { openRecords } from '../records/open-records.ts';
import type { Records } from '../records/records.ts';
import type { Redactor } from '../redact/redactor.ts';

export interface Backend {
  database: Database;
  records: Records;
  queue: JobQueue;
  close(): Promise<void>;
}

export interface BackendConnection {
  /** Throws `RetryableError` while there is none. */
  current(): Backend;
  /** Uses the first connection as soon as it is there; null when there never was one. */
  whenConnected<T>(use: (backend: Backend) => Promise<T>): Promise<T | null>;
  /** From now on nothing new is connected. */
  abandon(): void;
  close(): Promise<void>;
}

export interface BackendOptions {
  log: Logger;
  redactor: Pick<Redactor, 'openHolder'>;
}

const RETRY_MS = 2_000;

/**
 * Tries once, and then, if the backend is only away, in the background: webhooks can be taken meanwhile.
 * What a person has to mend is thrown at once.
 */
export async function connectBackend(
  url: string,
  config: Config['queue'],
  options: BackendOptions,
): Promise<BackendConnection> {
  const { log } = options;
  const stopping = new AbortController();
  const connected = Promise.withResolvers<Backend | null>();
  let backend: Backend | undefined;

  const tryOnce = async (): Promise<boolean> => {
    try {
      backend = await openBackend(url, config, options);
      connected.resolve(backend);
      return true;
    } catch (error) {
      if (error instanceof PermanentError) throw error;
      log.error({ err: error }, 'queue backend is away, trying again');
      return false;
    }
  };

  const keepTrying = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted || (await tryOnce())) return;
    }
  };

  const trying = (await tryOnce()) ? Promise.resolve() : keepTrying();
  // A second answer changes nothing, so this is only for those who wait for a connection that never came.
  trying.then(() => connected.resolve(null), connected.reject);

  return {
    current() {
      if (!backend) throw new RetryableError('the queue backend is not connected yet');
      return backend;
    },
    async whenConnected(use) {
      const first = await connected.promise;
      return first && use(first);
    },
    abandon: () => stopping.abort(),
    async close() {
      stopping.abort();
      await trying.catch(() => undefined);
      await backend?.close();
    },
  };
}

export async function openBackend(
  url: string,
  config: Config['queue'],
  { log, redactor }: BackendOptions,
): Promise<Backend> {
  const onError = (error: Error): void => log.warn({ err: error }, 'queue backend error');
  const learn = redactor.openHolder();
  const database = await openDatabase(url, { keyPrefix: config.keyPrefix, onError, learn });
  try {
    const records = await openRecords(database, onError);
    const deps = { database, leases: records.leases, channel: records.channel, onError };
    const queue = await openQueue(deps, config);
    return {
      database,
      records,
      queue,
      async close() {
        await queue.close();
        await records.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
