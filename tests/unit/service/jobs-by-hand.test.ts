import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { PermanentError } from '../../../src/errors.ts';
import type { JobQueue } from '../../../src/queue/queue.ts';
import { listJobs, retryJobs, stopJob } from '../../../src/service/jobs-by-hand.ts';
import { pglite, redis } from '../../services/backends.ts';
import { openAll } from '../../services/open-backend.ts';

test('several are tried again only if all of them have failed', async () => {
  const { byHand, fill } = await arrange();
  await fill(2, { failing: true });
  const [one, other] = (await listJobs(byHand)).map(({ id }) => id);
  if (!one || !other) throw new Error('no jobs');

  await expect(retryJobs(byHand, [one, 'nope', other])).rejects.toThrow(
    /no failed job nope, so none is tried again; 'hummingbird jobs list'/,
  );
  expect((await listJobs(byHand)).map(({ state }) => state)).toEqual(['failed', 'failed']);
  expect(await retryJobs(byHand, [one, other, one])).toEqual([one, other]);
  expect((await listJobs(byHand)).map(({ state }) => state)).not.toContain('failed');
});

test('to stop what is not there is an error, and nothing says it was stopped', async () => {
  const { byHand, lines } = await arrange();
  await expect(stopJob(byHand, 'nope')).rejects.toThrow(
    /no job nope that runs or waits; 'hummingbird jobs list'/,
  );
  expect(lines.join('')).not.toContain('run stopped');
});

test('more than a thousand are all listed', async () => {
  const { byHand, fill } = await arrange();
  await fill(1_001, { failing: false });
  expect(await listJobs(byHand)).toHaveLength(1_001);
});

async function arrange() {
  const address = await (redis.available ? redis : pglite).create();
  const file = join(mkdtempSync(join(tmpdir(), 'hummingbird-by-hand-')), 'hummingbird.yaml');
  writeFileSync(file, JSON.stringify({ queue: address }));
  const { config } = loadConfig({ file, env: {} });
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });

  async function fill(count: number, { failing }: { failing: boolean }): Promise<void> {
    const { queue, close } = await openAll(address);
    for (let number = 1; number <= count; number += 1) await add(queue, number);
    if (failing) await failAll(queue, count);
    await close();
  }
  return { byHand: { config, log, env: {} }, fill, lines };
}

function add(queue: JobQueue, mrIid: number) {
  const pipeline = { id: 31, projectId: 5 };
  const project = { id: 5, path: 'group/app' };
  return queue.add(
    { kind: 'analyze', project, mrIid, sha: 'abc', isMergeResult: false, pipeline },
    `e-${mrIid}`,
  );
}

async function failAll(queue: JobQueue, count: number): Promise<void> {
  const fail = async (): Promise<never> => {
    throw new PermanentError('refused');
  };
  const worker = await queue.work(fail, { concurrency: 1, maxConcurrent: () => 1, onError: () => undefined });
  await expect.poll(async () => (await queue.counts()).failed, { timeout: 10_000 }).toBe(count);
  await worker.stop(0);
}
