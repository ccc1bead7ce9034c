import type { RedisDatabase } from '../../database/database.ts';
import type { Cause, Causes } from '../records.ts';
import { KEEP_MS } from '../retention.ts';
import { createScript } from './script.ts';

// KEYS: the cause's hash, its runs, its merge requests, the project's causes by last sighting.
const NOTE = `
local cause, runs, mrs, recent = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local fingerprint, title, run, mr, at = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local keep = ARGV[6]
if redis.call('SADD', runs, run) == 0 then return end
redis.call('SADD', mrs, mr)
redis.call('HINCRBY', cause, 'count', 1)
local first = redis.call('HGET', cause, 'firstAt')
if not first or at < tonumber(first) then redis.call('HSET', cause, 'firstAt', at) end
local last = redis.call('HGET', cause, 'lastAt')
if not last or at >= tonumber(last) then
  redis.call('HSET', cause, 'lastAt', at, 'title', title)
  redis.call('ZADD', recent, at, fingerprint)
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, keep) end`;

export function createCauses(database: RedisDatabase): Causes {
  const note = createScript(database, NOTE);
  const prefixed = (key: string): string => `${database.keyPrefix}:${key}`;

  const get: Causes['get'] = async (projectId, fingerprint) => {
    const cause = causeKey(projectId, fingerprint);
    const fields = await database.client.hgetall(prefixed(cause));
    if (!fields.count) return null;
    const mrIids = await database.client.smembers(prefixed(`${cause}:mrs`));
    return {
      fingerprint,
      title: fields.title ?? '',
      count: Number(fields.count),
      firstAt: Number(fields.firstAt),
      lastAt: Number(fields.lastAt),
      mrIids: mrIids.map(Number).sort((a, b) => a - b),
    };
  };

  return {
    get,

    async note({ projectId, fingerprint, runId, title, mrIid, at }) {
      const cause = causeKey(projectId, fingerprint);
      await note(
        [cause, `${cause}:runs`, `${cause}:mrs`, `causes:${projectId}`],
        [fingerprint, title, runId, mrIid, at, KEEP_MS.causes],
      );
      const noted = await get(projectId, fingerprint);
      if (!noted) throw new Error(`cause ${fingerprint} vanished while it was noted`);
      return noted;
    },

    async recent(projectId, limit) {
      const fingerprints = await database.client.zrevrange(prefixed(`causes:${projectId}`), 0, limit - 1);
      const causes = await Promise.all(fingerprints.map((fingerprint) => get(projectId, fingerprint)));
      return causes.filter((cause): cause is Cause => cause !== null);
    },
  };
}

function causeKey(projectId: number, fingerprint: string): string {
  return `cause:${projectId}:${fingerprint}`;
}
