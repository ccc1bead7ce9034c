import type { RedisDatabase } from '../../database/database.ts';
import type { SeenEvents } from '../records.ts';
import { createScript } from './script.ts';

// The value is when it runs out, with a mark when the event is remembered.
const CLAIM = `
local now, hold, held = tonumber(ARGV[1]), tonumber(ARGV[2]), false
for _, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  if value and tonumber(string.match(value, '%d+')) > now then
    if string.sub(value, -1) == '!' then return 'known' end
    held = true
  end
end
if held then return 'held' end
for _, key in ipairs(KEYS) do redis.call('SET', key, now + hold, 'PX', hold) end
return 'claimed'`;

const REMEMBER = `
for _, key in ipairs(KEYS) do redis.call('SET', key, (ARGV[1] + ARGV[2]) .. '!', 'PX', ARGV[2]) end`;

const RELEASE = `
for _, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  if value and string.sub(value, -1) ~= '!' then redis.call('DEL', key) end
end`;

export function createSeenEvents(database: RedisDatabase): SeenEvents {
  const claim = createScript(database, CLAIM);
  const remember = createScript(database, REMEMBER);
  const release = createScript(database, RELEASE);
  const toKeys = (keys: string[]): string[] => keys.map((key) => `seen:${key}`);
  return {
    claim: async (keys, { now, holdMs }) =>
      (await claim(toKeys(keys), [now, holdMs])) as 'claimed' | 'held' | 'known',
    async isKnown(keys, now) {
      const values = await database.client.mget(toKeys(keys).map((key) => `${database.keyPrefix}:${key}`));
      return values.some((value) => value?.endsWith('!') && Number.parseInt(value, 10) > now);
    },
    remember: async (keys, { now, holdMs }) => void (await remember(toKeys(keys), [now, holdMs])),
    release: async (keys) => void (await release(toKeys(keys), [])),
  };
}
