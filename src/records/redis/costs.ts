import type { RedisDatabase } from '../../database/database.ts';
import { PermanentError } from '../../errors.ts';
import type { Costs } from '../records.ts';
import { KEEP_MS } from '../retention.ts';
import { createScript } from './script.ts';

// KEYS: the reservation, then one key per scope. ARGV: amount, keep, then a cap per scope.
const RESERVE = `
if redis.call('EXISTS', KEYS[1]) == 1 then return {1} end
local amount = tonumber(ARGV[1])
for i = 2, #KEYS do
  local used = tonumber(redis.call('GET', KEYS[i]) or '0')
  if used + amount > tonumber(ARGV[i + 1]) then return {0, i - 1, used} end
end
for i = 2, #KEYS do
  redis.call('INCRBY', KEYS[i], amount)
  redis.call('PEXPIRE', KEYS[i], ARGV[2])
end
redis.call('SET', KEYS[1], cjson.encode({amount = amount, settled = false, scopes = {unpack(KEYS, 2)}}), 'PX', ARGV[2])
return {1}`;

const SETTLE = `
local json = redis.call('GET', KEYS[1])
if not json then return 0 end
local reservation = cjson.decode(json)
if reservation.settled then return 1 end
for _, scope in ipairs(reservation.scopes) do
  redis.call('INCRBY', scope, tonumber(ARGV[1]) - reservation.amount)
end
reservation.settled = true
reservation.amount = tonumber(ARGV[1])
redis.call('SET', KEYS[1], cjson.encode(reservation), 'KEEPTTL')
return 1`;

export function createCosts(database: RedisDatabase): Costs {
  const reserve = createScript(database, RESERVE);
  const settle = createScript(database, SETTLE);
  return {
    async reserve({ id, microUsd, scopes }) {
      const [granted, index, used] = (await reserve(
        [`reservation:${id}`, ...scopes.map((scope) => `cost:${scope.name}`)],
        [microUsd, KEEP_MS.costs, ...scopes.map((scope) => scope.capMicroUsd)],
      )) as [number, number?, number?];
      const full = scopes[(index ?? 0) - 1];
      if (granted === 1 || !full) return { granted: true };
      return { granted: false, scope: full.name, capMicroUsd: full.capMicroUsd, usedMicroUsd: used ?? 0 };
    },

    async settle(id, microUsd) {
      if ((await settle([`reservation:${id}`], [microUsd])) !== 1)
        throw new PermanentError(`nothing was reserved as '${id}'`);
    },

    used: async (scope) => Number((await database.client.get(`${database.keyPrefix}:cost:${scope}`)) ?? 0),
  };
}
