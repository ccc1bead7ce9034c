import type { Database } from '../database/database.ts';
import { createPostgresRecords } from './postgres/records.ts';
import type { Records } from './records.ts';
import { createRedisRecords } from './redis/records.ts';

/** `onError` hears of what fails in the background, where no caller waits for it. */
export function openRecords(database: Database, onError: (error: Error) => void): Promise<Records> {
  return database.kind === 'redis'
    ? createRedisRecords(database, onError)
    : createPostgresRecords(database, onError);
}
