import type { RedisDatabase } from '../../database/database.ts';
import type { Feedback } from '../records.ts';
import { KEEP_MS } from '../retention.ts';
import { createScript } from './script.ts';

const TAKEN_BACK = 'taken back';

const SAVE = `
if redis.call('HGET', KEYS[1], ARGV[1]) == '${TAKEN_BACK}' then return end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])`;

export function createFeedback(database: RedisDatabase): Feedback {
  const save = createScript(database, SAVE);
  const keyOf = (projectId: number, noteId: number): string => `feedback:${projectId}:${noteId}`;
  return {
    async save({ projectId, noteId, awardId, value, given }) {
      await save([keyOf(projectId, noteId)], [awardId, given ? value : TAKEN_BACK, KEEP_MS.feedback]);
    },
    async of(projectId, noteId) {
      const values = await database.client.hvals(`${database.keyPrefix}:${keyOf(projectId, noteId)}`);
      const count = (wanted: string): number => values.filter((value) => value === wanted).length;
      return { up: count('up'), down: count('down') };
    },
  };
}
