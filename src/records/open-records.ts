import type { Database } from '../database/database.ts';
import { createPostgresRecords } from './postgres/records.ts';
import type { Records } from './records.ts';
import { createRedisRecords } from './redis/records.ts';

export function openRecords(database: Database): Promise<Records> {
  return database.kind === 'redis' ? createRedisRecords(database) : createPostgresRecords(database);
}
