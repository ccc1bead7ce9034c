import { PermanentError } from '../errors.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { openPglite } from './pglite.ts';
import { openPostgres } from './postgres.ts';
import { openRedis } from './redis.ts';

export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  if (/^rediss?(?:-sentinel|-cluster)?:/.test(url)) return openRedis(url, options);
  if (!url.startsWith('pglite:') && !URL.canParse(url))
    throw new PermanentError(
      'the address of the queue is not a URL; check HUMMINGBIRD_QUEUE_URL or queue.url',
    );
  if (url.startsWith('pglite:')) return openPglite(url.slice('pglite:'.length), options);
  if (/^postgres(ql)?:/.test(url)) return openPostgres(url, options);
  throw new PermanentError(
    `'${url.split(':')[0]}:' is no queue backend; use pglite:<folder>, postgres://… or redis://…`,
  );
}
