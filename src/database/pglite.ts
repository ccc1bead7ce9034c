// PostgreSQL inside this process, on disk: nothing to install or start.
import { EventEmitter } from 'node:events';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { PGlite, type Transaction } from '@electric-sql/pglite';
import type { DatabaseOptions, PostgresDatabase, SqlClient, SqlPool, SqlQueryable } from './database.ts';
import { lockFolder } from './folder-lock.ts';

export async function openPglite(path: string, _options: DatabaseOptions): Promise<PostgresDatabase> {
  const folder = resolve(path);
  const unlock = lockFolder(folder);
  try {
    mkdirSync(folder, { recursive: true });
    const pglite = await PGlite.create(folder);
    await pglite.exec('SET search_path TO bullmq');
    return {
      kind: 'postgres',
      pool: new PglitePool(pglite),
      transaction: (work) => pglite.transaction((tx) => work(toQueryable(tx))),
      listen: (channel, onPayload) => pglite.listen(channel, onPayload),
      ping: async () => void (await pglite.query('SELECT 1')),
      close: async () => {
        await pglite.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** The part of node-postgres' Pool that BullMQ uses, over PGlite's single session. */
class PglitePool extends EventEmitter implements SqlPool {
  readonly #pglite: PGlite;
  readonly query: SqlQueryable['query'];

  constructor(pglite: PGlite) {
    super();
    this.#pglite = pglite;
    this.query = toQueryable(pglite).query;
  }

  async connect(): Promise<SqlClient> {
    return new PgliteClient(this.#pglite);
  }

  /** The database outlives the pools over it; whoever opened it closes it. */
  async end(): Promise<void> {}
}

class PgliteClient extends EventEmitter implements SqlClient {
  readonly #pglite: PGlite;
  readonly #query: SqlQueryable['query'];
  readonly #listening = new Map<string, () => Promise<void>>();

  constructor(pglite: PGlite) {
    super();
    this.#pglite = pglite;
    this.#query = toQueryable(pglite).query;
  }

  async query<Row>(text: string, params?: readonly unknown[]) {
    const listen = /^(?:\s*--[^\n]*\n)*\s*LISTEN\s+"?(\w+)"?/i.exec(text);
    if (!listen?.[1]) return this.#query<Row>(text, params);
    await this.#listenTo(listen[1]);
    return { rows: [], rowCount: 0 };
  }

  release(): void {
    for (const unlisten of this.#listening.values()) void unlisten();
    this.#listening.clear();
  }

  async #listenTo(channel: string): Promise<void> {
    if (this.#listening.has(channel)) return;
    const unlisten = await this.#pglite.listen(channel, (payload) =>
      this.emit('notification', { channel, payload }),
    );
    this.#listening.set(channel, unlisten);
  }
}

function toQueryable(pglite: PGlite | Transaction): SqlQueryable {
  return {
    async query<Row>(text: string, params?: readonly unknown[]) {
      // Like node-postgres: only a text without parameters may hold several statements.
      const result = params?.length
        ? await pglite.query<Row>(text, [...params])
        : ((await pglite.exec(text)).at(-1) as { rows: Row[]; affectedRows?: number } | undefined);
      const rows = result?.rows ?? [];
      return { rows, rowCount: rows.length || (result?.affectedRows ?? 0) };
    },
  };
}
