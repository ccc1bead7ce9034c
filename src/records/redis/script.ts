import type { RedisDatabase } from '../../database/database.ts';

/** A Lua text run atomically by the server; its keys get the prefix that keeps them in one cluster slot. */
export function createScript(database: RedisDatabase, lua: string) {
  return (keys: string[], args: (string | number)[]): Promise<unknown> =>
    database.client.eval(lua, keys.length, ...keys.map((key) => `${database.keyPrefix}:${key}`), ...args);
}

/** The server's own clock in milliseconds: leases must not depend on whose clock is right. */
export const NOW_MS = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
