import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { PermanentError, RetryableError } from '../../src/errors.ts';
import type { AnalyzeJob, Job, ReplyJob } from '../../src/queue/job.ts';
import { openQueue } from '../../src/queue/open-queue.ts';
import {
  type JobContext,
  type JobHandler,
  type JobOutcome,
  NotYet,
  type QueueOptions,
  type WorkOptions,
} from '../../src/queue/queue.ts';
import { type Backend, titleOf } from '../services/backends.ts';
import { fastQueue, type Opened, openAll } from '../services/open-backend.ts';
import { stopProcess } from '../services/server.ts';
import { workUntilAborted } from '../services/work-until-aborted.ts';

export function queueContract(backend: Backend): void {
  describe.skipIf(!backend.available)(titleOf('queue', backend), () => {
    const cleanups: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    });

    async function open(options: Partial<QueueOptions> = {}): Promise<Opened & { address: Address }> {
      const address = await backend.create();
      const opened = await openAll(address, options);
      cleanups.push(async () => {
        await opened.close();
        expect(opened.errors).toEqual([]);
      });
      return { ...opened, address };
    }

    async function work(opened: Opened, handler: JobHandler, options: Partial<WorkOptions> = {}) {
      const outcomes: { context: JobContext; outcome: JobOutcome }[] = [];
      const worker = await opened.queue.work(handler, {
        concurrency: 10,
        maxConcurrent: () => 10,
        onError: (error) => opened.errors.push(error),
        onEnd: (context, outcome) => outcomes.push({ context, outcome }),
        ...options,
      });
      cleanups.push(() => worker.stop(0));
      return { worker, outcomes };
    }

    test('a job arrives as it was added', async () => {
      const opened = await open();
      const seen: Job[] = [];
      await work(opened, async ({ job }) => void seen.push(job));
      const job = analysis({ mrIid: null });
      const { merged } = await opened.queue.add(job, nextKey());
      await expect.poll(() => seen).toEqual([job]);
      expect(merged).toBe(false);
    });

    test('the same event again makes no second job, also when the first has ended', async () => {
      const opened = await open();
      const seen: string[] = [];
      await work(opened, async ({ id }) => void seen.push(id));
      const added = await Promise.all([1, 2, 3].map(() => opened.queue.add(reply(), 'note-1244')));
      expect(new Set(added.map(({ id }) => id)).size).toBe(1);
      await expect.poll(() => seen).toHaveLength(1);
      await opened.queue.add(reply(), 'note-1244');
      await opened.queue.add(reply(), 'note-1245');
      await expect.poll(() => seen).toHaveLength(2);
      expect(new Set(seen).size).toBe(2);
    });

    test('twenty events of one merge request at once become one job', async () => {
      const opened = await open({ debounceMs: 300, debounceMaxMs: 1_000 });
      const added = await Promise.all(
        Array.from({ length: 20 }, () => opened.queue.add(analysis(), nextKey())),
      );
      expect(new Set(added.map(({ id }) => id)).size).toBe(1);
      expect(added.filter(({ merged }) => !merged)).toHaveLength(1);
      expect(await opened.queue.counts()).toMatchObject({ delayed: 1, waiting: 0, active: 0 });
      await opened.queue.add(analysis({ mrIid: 8 }), nextKey());
      expect(await opened.queue.counts()).toMatchObject({ delayed: 2 });
    });

    test('a job that others were merged into is about what was said last', async () => {
      const opened = await open({ debounceMs: 300, debounceMaxMs: 1_000 });
      const seen: Job[] = [];
      await work(opened, async ({ job }) => void seen.push(job));
      await opened.queue.add(analysis({ sha: 'a'.repeat(40) }), nextKey());
      await opened.queue.add(analysis({ sha: 'b'.repeat(40) }), nextKey());
      await expect.poll(() => seen, { timeout: 5_000 }).toEqual([analysis({ sha: 'b'.repeat(40) })]);
    });

    test('a job waits for its delay and starts soon after it', async () => {
      const opened = await open({ debounceMs: 600, debounceMaxMs: 5_000 });
      const starts: number[] = [];
      await work(opened, async () => void starts.push(Date.now()));
      const added = Date.now();
      await opened.queue.add(analysis(), nextKey());
      await expect.poll(() => starts).toHaveLength(1);
      expect((starts[0] ?? 0) - added).toBeGreaterThanOrEqual(590);
      expect((starts[0] ?? 0) - added).toBeLessThan(2_500);
    });

    test('events in a row keep pushing the start away, but not beyond the maximum wait', async () => {
      const opened = await open({ debounceMs: 500, debounceMaxMs: 1_200 });
      const starts: number[] = [];
      await work(opened, async () => void starts.push(Date.now()));
      const first = Date.now();
      while (starts.length === 0 && Date.now() - first < 5_000) {
        await opened.queue.add(analysis(), nextKey());
        await sleep(150);
      }
      const waited = (starts[0] ?? Number.POSITIVE_INFINITY) - first;
      expect(waited).toBeGreaterThanOrEqual(1_000);
      expect(waited).toBeLessThan(2_500);
    });

    test('what happens while a job runs is looked at once more afterwards', async () => {
      const opened = await open();
      const gate = Promise.withResolvers<void>();
      const starts: string[] = [];
      await work(opened, async ({ id }) => {
        starts.push(id);
        if (starts.length === 1) await gate.promise;
      });
      await opened.queue.add(analysis(), nextKey());
      await expect.poll(() => starts).toHaveLength(1);
      const late = await Promise.all([1, 2, 3].map(() => opened.queue.add(analysis(), nextKey())));
      expect(late.every(({ merged }) => merged)).toBe(true);
      gate.resolve();
      await expect.poll(() => starts).toHaveLength(2);
      await expect
        .poll(() => opened.queue.counts())
        .toMatchObject({ active: 0, waiting: 0, delayed: 0, failed: 0 });
      expect(starts).toHaveLength(2);
    });

    test('a failed try is repeated with growing pauses until it works', async () => {
      const opened = await open({ backoffMs: 200 });
      const tries: { attempt: number; at: number }[] = [];
      await work(opened, async ({ attempt }) => {
        tries.push({ attempt, at: Date.now() });
        if (attempt < 3) throw new RetryableError('not yet');
      });
      await opened.queue.add(reply(), nextKey());
      await expect.poll(() => tries.length, { timeout: 5_000 }).toBe(3);
      expect(tries.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      const [a, b, c] = tries.map(({ at }) => at) as [number, number, number];
      expect(b - a).toBeGreaterThanOrEqual(95);
      expect(c - b).toBeGreaterThanOrEqual(195);
    });

    test('the wait another service asked for is obeyed', async () => {
      const opened = await open({ backoffMs: 1 });
      const tries: number[] = [];
      await work(opened, async ({ attempt }) => {
        tries.push(Date.now());
        if (attempt === 1) throw new RetryableError('busy', { retryAfterMs: 700 });
      });
      await opened.queue.add(reply(), nextKey());
      await expect.poll(() => tries.length, { timeout: 5_000 }).toBe(2);
      expect((tries[1] ?? 0) - (tries[0] ?? 0)).toBeGreaterThanOrEqual(690);
    });

    test('tries end at the limit, and what can not be mended is tried once; both are kept as failed', async () => {
      const opened = await open({ attempts: 3, backoffMs: 1 });
      const tries: { kind: string; last: boolean }[] = [];
      const { outcomes } = await work(opened, async ({ job, isLastAttempt }) => {
        tries.push({ kind: job.kind, last: isLastAttempt });
        throw job.kind === 'reply' ? new PermanentError('gone') : new Error('away');
      });
      await opened.queue.add(reply(), nextKey());
      await opened.queue.add(analysis(), nextKey());
      await expect.poll(async () => (await opened.queue.counts()).failed).toBe(2);
      expect(tries.filter(({ kind }) => kind === 'reply')).toHaveLength(1);
      expect(tries.filter(({ kind }) => kind === 'analyze').map(({ last }) => last)).toEqual([
        false,
        false,
        true,
      ]);
      const willRetry = outcomes.map(({ outcome }) => outcome.kind === 'failed' && outcome.willRetry);
      expect(willRetry.filter(Boolean)).toHaveLength(2);
    });

    test('a job that can not begin yet comes back without using up a try', async () => {
      const opened = await open({ attempts: 1 });
      const tries: { attempt: number; at: number }[] = [];
      const { outcomes } = await work(opened, async ({ attempt }) => {
        tries.push({ attempt, at: Date.now() });
        if (tries.length < 3) throw new NotYet('the session is busy', 200);
      });
      await opened.queue.add(reply(), nextKey());
      await expect
        .poll(() => outcomes.map(({ outcome }) => outcome.kind), { timeout: 5_000 })
        .toEqual(['parked', 'parked', 'done']);
      expect(tries.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
      expect((tries[2]?.at ?? 0) - (tries[0]?.at ?? 0)).toBeGreaterThanOrEqual(390);
    });

    test('replies go before automatic jobs', async () => {
      const opened = await open();
      const order: string[] = [];
      for (const mrIid of [1, 2, 3]) await opened.queue.add(analysis({ mrIid }), nextKey());
      await opened.queue.add(reply(), nextKey());
      await expect.poll(() => opened.queue.counts()).toMatchObject({ waiting: 4 });
      await work(opened, async ({ job }) => void order.push(job.kind), { concurrency: 1 });
      await expect.poll(() => order).toHaveLength(4);
      expect(order[0]).toBe('reply');
    });

    test('a reply gets the next place of its project, however many analyses wait for one', async () => {
      const opened = await open();
      const gate = Promise.withResolvers<void>();
      const order: string[] = [];
      const { outcomes } = await work(
        opened,
        async ({ job }) => {
          order.push(job.kind);
          await gate.promise;
        },
        { maxConcurrent: () => 1 },
      );
      const parked = () =>
        new Set(outcomes.filter(({ outcome }) => outcome.kind === 'parked').map(({ context }) => context.id));
      for (let mrIid = 1; mrIid <= 6; mrIid += 1) await opened.queue.add(analysis({ mrIid }), nextKey());
      await expect.poll(() => parked().size, { timeout: 5_000 }).toBe(5);
      const { id } = await opened.queue.add(reply(), nextKey());
      await expect.poll(() => parked().has(id), { timeout: 5_000 }).toBe(true);
      gate.resolve();
      await expect.poll(() => order[1], { timeout: 5_000 }).toBe('reply');
      // Then nobody waits for it any more.
      const holders = () => opened.records.leases.holders('project-5-awaited');
      await expect.poll(holders, { timeout: 1_000 }).toEqual([]);
    });

    test('signals do not wait behind long work', async () => {
      const opened = await open();
      const seen: string[] = [];
      await work(
        opened,
        ({ job, signal }) => {
          seen.push(job.kind);
          return job.kind === 'analyze' ? workUntilAborted(signal) : Promise.resolve();
        },
        { concurrency: 1 },
      );
      await opened.queue.add(analysis(), nextKey());
      await expect.poll(() => seen).toEqual(['analyze']);
      await opened.queue.add(
        {
          kind: 'mr-changed',
          project: { id: 5, path: 'group/app' },
          mrIid: 7,
          change: 'pushed',
          sha: 'b'.repeat(40),
        },
        nextKey(),
      );
      await expect.poll(() => seen).toEqual(['analyze', 'mr-changed']);
    });

    test('a worker runs no more jobs at once than its concurrency', async () => {
      const opened = await open();
      const running = gauge();
      await work(opened, () => running.during(80), { concurrency: 2 });
      for (let mrIid = 1; mrIid <= 6; mrIid += 1) await opened.queue.add(analysis({ mrIid }), nextKey());
      await expect.poll(() => running.finished, { timeout: 10_000 }).toBe(6);
      expect(running.peak).toBe(2);
    });

    test('a project runs no more jobs at once than its limit, in all workers together', async () => {
      const opened = await open();
      const second = await openAll(opened.address, {}, backend.shared ? undefined : opened.database);
      cleanups.push(() => second.close());
      const [limited, free] = [gauge(), gauge()];
      const handler: JobHandler = ({ job }) => (job.project.id === 5 ? limited : free).during(100);
      await work(opened, handler, { maxConcurrent: ({ project }) => (project.id === 5 ? 1 : 10) });
      await work(second, handler, { maxConcurrent: ({ project }) => (project.id === 5 ? 1 : 10) });
      for (let mrIid = 1; mrIid <= 4; mrIid += 1) {
        await opened.queue.add(analysis({ mrIid }), nextKey());
        await opened.queue.add(analysis({ mrIid, project: { id: 6, path: 'group/other' } }), nextKey());
      }
      await expect.poll(() => [limited.finished, free.finished], { timeout: 15_000 }).toEqual([4, 4]);
      expect(limited.peak).toBe(1);
      expect(free.peak).toBeGreaterThan(1);
    });

    test('a waiting job is found by its merge key and can be taken back', async () => {
      const opened = await open({ debounceMs: 60_000, debounceMaxMs: 60_000 });
      const { id } = await opened.queue.add(analysis(), nextKey());
      expect(await opened.queue.waiting('analyze-5-mr7')).toEqual({ id, job: analysis() });
      expect(await opened.queue.cancel(id, 'merged')).toBe('removed');
      expect(await opened.queue.waiting('analyze-5-mr7')).toBeNull();
      expect(await opened.queue.cancel(id, 'merged')).toBe('not-found');
      expect((await opened.queue.add(analysis(), nextKey())).merged).toBe(false);
    });

    test('a cancelled job ends at once, is not tried again, and does not count as failed', async () => {
      const opened = await open();
      const second = await openAll(opened.address, {}, backend.shared ? undefined : opened.database);
      cleanups.push(() => second.close());
      const started: string[] = [];
      const { outcomes } = await work(opened, ({ id, signal }) => {
        started.push(id);
        return workUntilAborted(signal);
      });
      const { id } = await opened.queue.add(reply(), nextKey());
      await expect.poll(() => started).toEqual([id]);
      expect(await second.queue.cancel(id, 'a new commit was pushed')).toBe('stopping');
      await expect
        .poll(() => outcomes.map(({ outcome }) => outcome))
        .toEqual([{ kind: 'cancelled', reason: 'a new commit was pushed' }]);
      await expect.poll(() => opened.queue.counts()).toMatchObject({ active: 0, failed: 0, delayed: 0 });
      expect(started).toHaveLength(1);
    });

    // One process at a time can have the embedded database.
    const testShared = backend.shared ? test : () => undefined;
    test('a cancellation that nobody hears is found with the job within two seconds', async () => {
      const opened = await open();
      const { database, records } = opened;
      const { outcomes } = await work(opened, ({ signal }) => workUntilAborted(signal));
      const { id } = await opened.queue.add(analysis(), nextKey());
      await expect.poll(() => opened.queue.counts()).toMatchObject({ active: 1 });
      const failures: Error[] = [];
      // As while a channel reconnects.
      const channel = { ...records.channel, publish: () => Promise.reject(new Error('nobody listens')) };
      const onError = (error: Error) => void failures.push(error);
      const deaf = await openQueue({ database, leases: records.leases, channel, onError }, fastQueue);
      cleanups.push(() => deaf.close());
      const from = Date.now();
      expect(await deaf.cancel(id, 'pushed')).toBe('stopping');
      await expect
        .poll(() => outcomes.map(({ outcome }) => outcome), { timeout: 5_000 })
        .toEqual([{ kind: 'cancelled', reason: 'pushed' }]);
      expect(Date.now() - from).toBeLessThan(2_000);
      expect(failures).toMatchObject([{ message: 'nobody listens' }]);
    });

    test('a job that failed for good is listed with its reason, and tried anew by hand', async () => {
      const opened = await open({ attempts: 1 });
      let isBroken = true;
      const seen: number[] = [];
      await work(opened, async ({ attempt }) => {
        seen.push(attempt);
        if (isBroken) throw new Error('the model is away');
      });
      const { id } = await opened.queue.add(analysis(), nextKey());
      await expect.poll(() => opened.queue.counts()).toMatchObject({ failed: 1 });
      const [listed] = await opened.queue.list(10);
      expect(listed).toMatchObject({ id, state: 'failed', reason: 'the model is away', job: analysis() });
      isBroken = false;
      expect(await opened.queue.retry('unknown')).toBe(false);
      expect(await opened.queue.retry(id)).toBe(true);
      await expect.poll(() => seen).toEqual([1, 1]);
      await expect.poll(() => opened.queue.list(10)).toEqual([]);
      expect(await opened.queue.retry(id)).toBe(false);
    });

    test('tells whether the job of an event is yet to be done', async () => {
      const opened = await open();
      await opened.queue.add(reply(), 'note-1');
      expect(await opened.queue.stateOf('reply', 'note-1')).toBe('pending');
      expect(await opened.queue.stateOf('reply', 'note-2')).toBe('unknown');
      await work(opened, async () => undefined);
      await expect.poll(() => opened.queue.stateOf('reply', 'note-1')).toBe('done');
    });

    testShared('a job is cancelled in another process', async () => {
      const opened = await open();
      const other = await startProcess(opened.address);
      cleanups.push(() => other.end());
      const { id } = await opened.queue.add(analysis(), nextKey());
      await other.said({ event: 'started', id, attempt: 1 });
      const before = Date.now();
      expect(await opened.queue.cancel(id, 'closed')).toBe('stopping');
      await other.said({ event: 'cancelled', id });
      expect(Date.now() - before).toBeLessThan(2_000);
    });

    test('a job survives as many workers that die under it as it may, without using up a try; then it fails, until it is tried anew by hand', async () => {
      const address = await backend.create();
      const options = { attempts: 1, maxStalled: 2 };
      const opened = await openAll(address, options);
      const { id } = await opened.queue.add(analysis(), nextKey());
      await opened.close();
      for (let death = 0; death < 3; death += 1) {
        const other = await startProcess(address);
        await other.said({ event: 'started', id, attempt: 1 });
        await other.kill();
      }
      const survivor = await openAll(address, options);
      cleanups.push(() => survivor.close());
      const seen: { id: string; attempt: number; hopeless: string | undefined }[] = [];
      await work(survivor, async ({ id, attempt, hopeless }) => {
        seen.push({ id, attempt, hopeless: hopeless?.message });
        if (hopeless) throw hopeless;
      });
      const hopeless = expect.stringContaining('3 workers died');
      await expect.poll(() => seen, { timeout: 10_000 }).toEqual([{ id, attempt: 1, hopeless }]);
      await expect
        .poll(() => survivor.queue.list())
        .toMatchObject([{ id, state: 'failed', reason: hopeless }]);
      expect(await survivor.queue.retry(id)).toBe(true);
      await expect.poll(() => seen[1]).toEqual({ id, attempt: 1, hopeless: undefined });
      await expect.poll(() => survivor.queue.counts()).toMatchObject({ active: 0, failed: 0 });
    }, 60_000);

    test('a job that is lost by a busy process and comes back to it does not run twice at once, nor a third time', async () => {
      const opened = await open();
      const seen = { starts: 0, now: 0, peak: 0 };
      const { outcomes } = await work(opened, async ({ signal }) => {
        seen.starts += 1;
        seen.now += 1;
        seen.peak = Math.max(seen.peak, seen.now);
        // Longer than the lock; the first one also takes a while to end.
        await sleep(3 * fastQueue.lockMs, undefined, { signal }).catch(() => sleep(600));
        seen.now -= 1;
        signal.throwIfAborted();
      });
      await opened.queue.add(reply(), nextKey());
      await expect.poll(() => seen.starts).toBe(1);
      // As when a process stands still.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2.5 * fastQueue.lockMs);
      await expect
        .poll(() => outcomes.map(({ outcome }) => outcome.kind), { timeout: 20_000 })
        .toContain('done');
      // PostgreSQL gives it back to who had it; from Redis' view it is lost.
      expect(seen).toEqual({ starts: expect.toSatisfy((starts) => starts <= 2), now: 0, peak: 1 });
      // What was lost is told of.
      opened.errors.length = 0;
    }, 40_000);

    test('jobs that wait when everything stops are there after the restart', async () => {
      const address = await backend.create();
      const before = await openAll(address);
      const added = [
        await before.queue.add(analysis(), nextKey()),
        await before.queue.add(reply(), nextKey()),
      ];
      await before.close();
      const after = await openAll(address);
      cleanups.push(() => after.close());
      const seen: string[] = [];
      await work(after, async ({ id }) => void seen.push(id));
      await expect.poll(() => seen.toSorted()).toEqual(added.map(({ id }) => id).toSorted());
    });

    test('a worker that stops lets short jobs finish and hands long ones over, without using up a try', async () => {
      const opened = await open();
      const gate = Promise.withResolvers<void>();
      const started: string[] = [];
      const { worker, outcomes } = await work(opened, ({ job, signal }) => {
        started.push(job.kind);
        return job.kind === 'reply' ? gate.promise : workUntilAborted(signal);
      });
      await opened.queue.add(reply(), nextKey());
      await opened.queue.add(analysis(), nextKey());
      await expect.poll(() => started).toHaveLength(2);
      const stopping = worker.stop(300);
      gate.resolve();
      await stopping;
      const ends = outcomes.map(({ context, outcome }) => `${context.job.kind} ${outcome.kind}`);
      expect(new Set(ends)).toEqual(new Set(['reply done', 'analyze handed-over']));
      expect(started).toHaveLength(2);
      const attempts: number[] = [];
      await work(opened, async ({ attempt }) => void attempts.push(attempt));
      await expect.poll(() => attempts).toEqual([1]);
    });
  });
}

type Address = { url: string; keyPrefix: string };

function analysis(job: Partial<AnalyzeJob> = {}): AnalyzeJob {
  return {
    kind: 'analyze',
    project: { id: 5, path: 'group/app' },
    mrIid: 7,
    sha: 'a'.repeat(40),
    isMergeResult: false,
    pipeline: { id: 31, projectId: 5 },
    ...job,
  };
}

function reply(): ReplyJob {
  return {
    kind: 'reply',
    project: { id: 5, path: 'group/app' },
    mrIid: 7,
    noteId: 1244,
    discussionId: 'd1',
    authorId: 3,
    mentioned: false,
  };
}

let keys = 0;
function nextKey(): string {
  keys += 1;
  return `event-${keys}`;
}

function gauge() {
  let now = 0;
  const gauge = {
    peak: 0,
    finished: 0,
    async during(ms: number): Promise<void> {
      now += 1;
      gauge.peak = Math.max(gauge.peak, now);
      await sleep(ms);
      now -= 1;
      gauge.finished += 1;
    },
  };
  return gauge;
}

async function startProcess(address: Address) {
  const script = join(import.meta.dirname, '../services/queue-process.ts');
  const child: ChildProcess = spawn(process.execPath, [script, address.url, address.keyPrefix], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const messages: unknown[] = [];
  if (!child.stdout) throw new Error('no output');
  createInterface(child.stdout).on('line', (line) => messages.push(JSON.parse(line)));
  await expect.poll(() => messages, { timeout: 15_000 }).toContainEqual({ event: 'ready' });
  return {
    said: (message: unknown) => expect.poll(() => messages, { timeout: 15_000 }).toContainEqual(message),
    kill: () => stopProcess(child, 'SIGKILL'),
    async end() {
      child.stdin?.end();
      await stopProcess(child, 'SIGKILL');
    },
  };
}
