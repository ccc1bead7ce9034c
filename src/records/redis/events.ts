import type { RedisDatabase } from '../../database/database.ts';
import type { SeenEvents } from '../records.ts';
import { createScript } from './script.ts';

const CLAIM = `
local now, hold = tonumber(ARGV[1]), tonumber(ARGV[2])
for _, key in ipairs(KEYS) do
  local expires = redis.call('GET', key)
  if expires and tonumber(expires) > now then return 0 end
end
for _, key in ipairs(KEYS) do redis.call('SET', key, now + hold, 'PX', hold) end
return 1`;

const REMEMBER = `
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1] + ARGV[2], 'PX', ARGV[2]) end`;

export function createSeenEvents(database: RedisDatabase): SeenEvents {
  const claim = createScript(database, CLAIM);
  const remember = createScript(database, REMEMBER);
  const release = createScript(database, `redis.call('DEL', unpack(KEYS))`);
  const toKeys = (keys: string[]): string[] => keys.map((key) => `seen:${key}`);
  return {
    claim: async (keys, { now, holdMs }) => (await claim(toKeys(keys), [now, holdMs])) === 1,
    remember: async (keys, { now, holdMs }) => void (await remember(toKeys(keys), [now, holdMs])),
    release: async (keys) => void (await release(toKeys(keys), [])),
  };
}
