// What queue and records share: one connection to one backend, chosen by its URL.
import type { EventEmitter } from 'node:events';
import type { Redis, RedisOptions } from 'ioredis';
import type { Learn } from '../learn.ts';

export type Database = PostgresDatabase | RedisDatabase;

export interface PostgresDatabase {
  kind: 'postgres';
  /** Shaped like node-postgres' Pool; also what BullMQ is given. */
  pool: SqlPool;
  /** Runs `work` atomically on one connection; a throw rolls everything back. */
  transaction<T>(work: (sql: SqlQueryable) => Promise<T>): Promise<T>;
  /** Calls `onPayload` for each NOTIFY, across reconnects; resolves once listening. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<() => Promise<void>>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RedisDatabase {
  kind: 'redis';
  /** Fails fast instead of queueing commands while the server is away. */
  client: Redis;
  /** Another connection, for blocking reads and subscriptions; the caller closes it. */
  connect(options: RedisConnectionOptions): Redis;
  /** A hash tag, so that all keys live in one slot of a cluster. */
  keyPrefix: string;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export type RedisConnectionOptions = Pick<
  RedisOptions,
  'enableOfflineQueue' | 'maxRetriesPerRequest' | 'lazyConnect'
>;

export interface SqlQueryable {
  query<Row = Record<string, unknown>>(
    text: string,
    params?: readonly unknown[],
  ): Promise<{ rows: Row[]; rowCount?: number | null }>;
}

export interface SqlClient extends SqlQueryable, EventEmitter {
  release(destroy?: boolean): void;
}

export interface SqlPool extends SqlQueryable, EventEmitter {
  connect(): Promise<SqlClient>;
  end(): Promise<void>;
}

export interface DatabaseOptions {
  keyPrefix: string;
  onError: (error: Error) => void;
  /** Hears of the secrets that a client finds by itself. */
  learn: Learn;
}
