// The same queue and records on Redis as a cluster, behind sentinels and with TLS.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { PermanentError } from '../../src/errors.ts';
import { redis, titleOf } from '../services/backends.ts';
import { type Opened, openAll } from '../services/open-backend.ts';
import { type RedisServers, startCluster, startSentinel, startTls } from '../services/redis-kinds.ts';

const project = { id: 5, path: 'shop/checkout' };
const reply = (noteId: number) =>
  ({ kind: 'reply', project, mrIid: 7, noteId, discussionId: 'd', authorId: 1, mentioned: false }) as const;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup().catch(() => undefined);
});

async function open(start: () => Promise<RedisServers>): Promise<RedisServers & Opened & { done: number[] }> {
  const started = await start();
  for (const server of started.servers) cleanups.push(() => server.stop());
  const opened = await openAll({ url: started.url, keyPrefix: 'kinds' });
  cleanups.push(() => opened.close());
  const done: number[] = [];
  const worker = await opened.queue.work(
    async ({ job }) => {
      if (job.kind === 'reply') done.push(job.noteId);
    },
    { concurrency: 2, maxConcurrent: () => 2, onError: () => undefined },
  );
  cleanups.push(() => worker.stop(1_000));
  return { ...started, ...opened, done };
}

describe.skipIf(!redis.available)(titleOf('Redis', redis), () => {
  test('as a cluster that is not complete is waited for, and used when it is', async () => {
    const { url, servers, askFirst } = await startCluster();
    for (const server of servers) cleanups.push(() => server.stop());
    askFirst('CLUSTER', 'DELSLOTS', '0');
    const opening = openAll({ url, keyPrefix: 'kinds' });
    await sleep(1_000);
    askFirst('CLUSTER', 'ADDSLOTS', '0');
    const opened = await opening;
    cleanups.push(() => opened.close());
    expect((await opened.queue.add(reply(1), 'one')).merged).toBe(false);
  }, 40_000);

  test.each([
    ['as a cluster of three', startCluster],
    ['with TLS and a certificate of its own', startTls],
  ])(
    '%s does jobs, holds leases and carries messages',
    async (_name, start) => {
      const { queue, records, done } = await open(start);
      const heard: unknown[] = [];
      await records.channel.subscribe('topic', (message) => heard.push(message));
      await queue.add(reply(1), 'one');
      await queue.add(reply(1), 'one');
      await queue.add(reply(2), 'two');
      await expect.poll(() => done.toSorted(), { timeout: 10_000 }).toEqual([1, 2]);
      const lease = await records.leases.acquire('lock', { holder: 'a', ttlMs: 5_000 });
      expect(await records.leases.acquire('lock', { holder: 'b', ttlMs: 5_000 })).toBeNull();
      expect(lease && (await records.leases.renew(lease, 5_000))).toBe(true);
      const scopes = [{ name: 'run', capMicroUsd: 10 }];
      expect(await records.costs.reserve({ id: 'r', microUsd: 8, scopes })).toEqual({ granted: true });
      await records.events.claim(['key'], { now: 1, holdMs: 60_000 });
      await records.events.remember(['key'], { now: 1, holdMs: 60_000 });
      expect(await records.events.isKnown(['other', 'key'], 2)).toBe(true);
      await records.channel.publish('topic', { said: true });
      await expect.poll(() => heard, { timeout: 5_000 }).toEqual([{ said: true }]);
    },
    40_000,
  );

  test('behind a sentinel goes on with the replica when the master dies', async () => {
    const { queue, records, done, servers } = await open(startSentinel);
    await queue.add(reply(1), 'one');
    await expect.poll(() => done, { timeout: 10_000 }).toEqual([1]);
    servers[0]?.signal('SIGKILL');
    await expect
      .poll(
        () =>
          queue.add(reply(2), 'two').then(
            () => true,
            () => false,
          ),
        { timeout: 20_000, interval: 200 },
      )
      .toBe(true);
    await expect.poll(() => done, { timeout: 20_000 }).toContain(2);
    expect(await records.leases.acquire('lock', { holder: 'a', ttlMs: 5_000 })).not.toBeNull();
  }, 60_000);
});

test.each(['redis://', 'redis-sentinel://h:1', 'redis-cluster://h:1,:2', 'redis://h:1/x', 'redis://a,b'])(
  'an address that can not be one is refused, without repeating it: %s',
  async (url) => {
    const opening = openDatabase(url, { keyPrefix: 'x', onError: () => undefined, learn: () => undefined });
    await expect(opening).rejects.toThrow(PermanentError);
    await expect(opening).rejects.toThrow(/^the address of Redis is malformed/);
  },
);
