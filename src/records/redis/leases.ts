import type { RedisDatabase } from '../../database/database.ts';
import type { Leases } from '../records.ts';
import { createScript, NOW_MS } from './script.ts';

/** Must outlive every late writer that could still come with an old token. */
const KEEP_LAST_TOKEN_MS = 90 * 24 * 3_600_000;

// A lease is a sorted set of holders by expiry and a hash of their tokens.
const ACQUIRE = `${NOW_MS}
local places, tokens, last, counter = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, ttl, limit, keepLast = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', places, '-inf', now)) do
  redis.call('ZREM', places, gone)
  redis.call('HDEL', tokens, gone)
end
local others = redis.call('ZCARD', places)
if redis.call('ZSCORE', places, holder) then others = others - 1 end
if others >= limit then return 0 end
local token = redis.call('INCR', counter)
redis.call('ZADD', places, now + ttl, holder)
redis.call('HSET', tokens, holder, token)
redis.call('SET', last, token, 'PX', keepLast)
return token`;

const RENEW = `${NOW_MS}
local expires = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not expires or tonumber(expires) <= now then return 0 end
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
return 1`;

const RELEASE = `
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
return 1`;

const HOLDERS = `${NOW_MS}
local found = {}
for _, holder in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')) do
  table.insert(found, {holder, redis.call('HGET', KEYS[2], holder), redis.call('ZSCORE', KEYS[1], holder) - now})
end
return found`;

export function createLeases(database: RedisDatabase): Leases {
  const acquire = createScript(database, ACQUIRE);
  const renew = createScript(database, RENEW);
  const release = createScript(database, RELEASE);
  const holders = createScript(database, HOLDERS);
  const keysOf = (name: string): [string, string] => [`lease:${name}`, `lease-tokens:${name}`];
  return {
    async acquire(name, { holder, ttlMs, limit = 1 }) {
      const token = await acquire(
        [...keysOf(name), `lease-last:${name}`, 'lease-counter'],
        [holder, ttlMs, limit, KEEP_LAST_TOKEN_MS],
      );
      return token === 0 ? null : { name, holder, token: Number(token) };
    },
    renew: async ({ name, holder, token }, ttlMs) =>
      (await renew(keysOf(name), [holder, token, ttlMs])) === 1,
    release: async ({ name, holder, token }) => void (await release(keysOf(name), [holder, token])),
    async holders(name) {
      const found = (await holders(keysOf(name), [])) as [string, string, number][];
      return found
        .map(([holder, token, expiresInMs]) => ({ holder, token: Number(token), expiresInMs }))
        .sort((a, b) => a.token - b.token);
    },
  };
}
