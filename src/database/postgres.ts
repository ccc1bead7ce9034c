import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PermanentError, RetryableError } from '../errors.ts';
import type { DatabaseOptions, PostgresDatabase, SqlPool, SqlQueryable } from './database.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 500;
const AFTER_FAILURE_MS = 250;

export async function openPostgres(url: string, options: DatabaseOptions): Promise<PostgresDatabase> {
  const connection = {
    connectionString: url,
    // BullMQ's statements carry no schema name.
    options: '-c search_path=bullmq',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'hummingbird',
  };
  const pool = new pg.Pool({ ...connection, max: 20 });
  pool.on('error', options.onError);
  // The pool watches its idle clients only; one that breaks while it is in use would end the process.
  pool.on('connect', (client) => client.on('error', options.onError));
  // Out of .pgpass, and of the file that `sslkey` names.
  pool.on('connect', (client) => options.learn(foundBy(client)));
  await pool.query('SELECT 1').catch(async (error) => {
    await pool.end();
    throw toOpeningError(error, url);
  });
  const listeners = new Set<() => Promise<void>>();
  return {
    kind: 'postgres',
    pool: makePatient(pool),
    transaction: (work) => runTransaction(pool, work),
    async listen(channel, onPayload) {
      const stop = await listen(connection, channel, { onPayload, onError: options.onError });
      listeners.add(stop);
      return async () => {
        listeners.delete(stop);
        await stop();
      };
    },
    ping: async () => void (await pool.query('SELECT 1')),
    close: async () => {
      await Promise.all([...listeners].map((stop) => stop()));
      await pool.end();
    },
  };
}

function foundBy(client: pg.PoolClient): string[] {
  const { password, ssl } = client as { password?: string | null; ssl?: { key?: unknown } | boolean };
  const key = typeof ssl === 'object' ? ssl.key : undefined;
  return [password, key].filter((one): one is string => typeof one === 'string');
}

/** BullMQ's worker asks again at once when a query fails; without a connection it shall not do so in a rush. */
function makePatient(pool: pg.Pool): SqlPool {
  const query = pool.query.bind(pool) as SqlPool['query'];
  const patientQuery: SqlPool['query'] = async (text, params) => {
    try {
      return await query(text, params);
    } catch (error) {
      if (isConnectionError(error)) await sleep(AFTER_FAILURE_MS);
      throw error;
    }
  };
  return Object.assign(pool as unknown as SqlPool, { query: patientQuery });
}

/** A wrong password, a user or a database that is not there, a name nobody has: waiting does not mend these. */
function toOpeningError(error: Error & { code?: string }, url: string): Error {
  if (!/^(?:28|3D)/.test(error.code ?? '')) {
    if (!isConnectionError(error)) return error;
    // Of several addresses of one name there is no message, only a code.
    const why = error.message || error.code;
    const { host } = new URL(url);
    return new RetryableError(
      `PostgreSQL${host && ` at ${host}`} can not be reached: ${why}; check that it runs, and HUMMINGBIRD_QUEUE_URL or queue.url`,
      { cause: error },
    );
  }
  return new PermanentError(
    `PostgreSQL refuses us: ${error.message}; check HUMMINGBIRD_QUEUE_URL or queue.url`,
    {
      cause: error,
    },
  );
}

/** Anything but PostgreSQL's verdict on a statement; its classes 08 and 57 are about the connection too. */
function isConnectionError(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || /^(?:08|57)/.test(error.code ?? '');
}

async function runTransaction<T>(pool: pg.Pool, work: (sql: SqlQueryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query('BEGIN');
    const result = await work(client as SqlQueryable);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

interface ListenHandlers {
  onPayload: (payload: string) => void;
  onError: (error: Error) => void;
}

/** A LISTEN lives and dies with its connection, so it gets one of its own that is replaced when it breaks. */
async function listen(connection: pg.ClientConfig, channel: string, handlers: ListenHandlers) {
  let client: pg.Client;
  let stopped = false;

  const connect = async (): Promise<void> => {
    const next = new pg.Client(connection);
    next.on('notification', (message) => handlers.onPayload(message.payload ?? ''));
    next.on('error', handlers.onError);
    try {
      await next.connect();
      await next.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      await next.end().catch(() => undefined);
      throw error;
    }
    if (stopped) return next.end();
    next.once('end', () => void reconnect());
    client = next;
  };

  const reconnect = async (): Promise<void> => {
    while (!stopped) {
      await sleep(RECONNECT_MS);
      if (stopped) return;
      try {
        return await connect();
      } catch (error) {
        handlers.onError(error as Error);
      }
    }
  };

  await connect();
  return async () => {
    stopped = true;
    await client.end();
  };
}
