import type { RedisDatabase } from '../../database/database.ts';
import { LeaseLostError, type Run, type Runs } from '../records.ts';
import { KEEP_MS } from '../retention.ts';
import { createScript } from './script.ts';

const PAGE = 100;

const SAVE = `
local body, all, ofMr, last = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, json, startedAt, keepMs, fence = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if fence ~= '' and redis.call('GET', last) ~= fence then return 0 end
redis.call('SET', body, json, 'PX', keepMs)
for _, index in ipairs({all, ofMr}) do
  redis.call('ZADD', index, startedAt, id)
  redis.call('ZREMRANGEBYSCORE', index, '-inf', startedAt - keepMs)
end
redis.call('PEXPIRE', ofMr, keepMs)
return 1`;

export function createRuns(database: RedisDatabase): Runs {
  const save = createScript(database, SAVE);
  const toKey = (key: string): string => `${database.keyPrefix}:${key}`;
  const readAll = async (ids: string[]): Promise<Run[]> => {
    const bodies = ids.length ? await database.client.mget(ids.map((id) => toKey(`run:${id}`))) : [];
    return bodies.flatMap((body) => (body === null ? [] : [JSON.parse(body) as Run]));
  };

  return {
    async save(run, fence) {
      const saved = await save(
        [`run:${run.id}`, 'runs', mrIndex(run.projectId, run.mrIid), `lease-last:${fence?.name ?? ''}`],
        [run.id, JSON.stringify(run), run.startedAt, KEEP_MS.runs, fence?.token ?? ''],
      );
      if (saved !== 1) throw new LeaseLostError(`run ${run.id}: the lease '${fence?.name}' was lost`);
    },

    get: async (id) => (await readAll([id]))[0] ?? null,

    async list({ mr, state, limit }) {
      const index = toKey(mr ? mrIndex(mr.projectId, mr.iid) : 'runs');
      const found: Run[] = [];
      for (let start = 0; found.length < limit; start += PAGE) {
        const ids = await database.client.zrevrange(index, start, start + PAGE - 1);
        if (ids.length === 0) break;
        found.push(...(await readAll(ids)).filter((run) => !state || run.state === state));
      }
      return found.slice(0, limit);
    },
  };
}

function mrIndex(projectId: number, iid: number | null): string {
  return `runs:${projectId}:${iid ?? 'none'}`;
}
