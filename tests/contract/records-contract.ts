import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run } from '../../src/records/records.ts';
import { LeaseLostError } from '../../src/records/records.ts';
import { type Backend, titleOf } from '../services/backends.ts';
import { type Opened, openAll } from '../services/open-backend.ts';
import { costsContract } from './costs-contract.ts';

const HOUR = 3_600_000;

export function recordsContract(backend: Backend): void {
  describe.skipIf(!backend.available)(titleOf('records', backend), () => {
    let opened: Opened;
    let address: { url: string; keyPrefix: string };

    beforeAll(async () => {
      address = await backend.create();
      opened = await openAll(address);
    });
    afterAll(() => opened.close());

    describe('seen events', () => {
      test('of twenty claims at once exactly one wins', async () => {
        const claims = Array.from({ length: 20 }, () =>
          opened.records.events.claim(['a', 'b'], { now: 1_000, holdMs: HOUR }),
        );
        expect((await Promise.all(claims)).filter((claim) => claim === 'claimed')).toHaveLength(1);
      });

      test('what is remembered is known, until it runs out; what is only claimed is not', async () => {
        const { events } = opened.records;
        await events.claim(['k1', 'k2'], { now: 1_000, holdMs: HOUR });
        expect(await events.isKnown(['k1'], 1_001)).toBe(false);
        await events.remember(['k1', 'k2'], { now: 1_000, holdMs: HOUR });
        expect(await events.isKnown(['k0', 'k2'], 1_001)).toBe(true);
        expect(await events.isKnown(['k0'], 1_001)).toBe(false);
        expect(await events.isKnown(['k1'], 1_001 + HOUR)).toBe(false);
      });

      test('claims with the same keys in another order do not block each other', async () => {
        const claims = Array.from({ length: 20 }, (_, index) =>
          opened.records.events.claim(index % 2 ? ['x', 'y'] : ['y', 'x'], { now: 1_000, holdMs: HOUR }),
        );
        expect((await Promise.all(claims)).filter((claim) => claim === 'claimed')).toHaveLength(1);
      });

      test('one known key is enough to know the event, and the other key stays free', async () => {
        const { events } = opened.records;
        await events.claim(['known'], { now: 1_000, holdMs: HOUR });
        expect(await events.claim(['known', 'unknown'], { now: 1_000, holdMs: HOUR })).toBe('held');
        expect(await events.claim(['unknown'], { now: 1_000, holdMs: HOUR })).toBe('claimed');
      });

      test('a claim runs out, a remembered event does not', async () => {
        const { events } = opened.records;
        const now = Date.now();
        await events.claim(['short'], { now, holdMs: 60_000 });
        await events.claim(['long'], { now, holdMs: 60_000 });
        await events.remember(['long'], { now, holdMs: 24 * HOUR });
        expect(await events.claim(['short'], { now: now + HOUR, holdMs: 60_000 })).toBe('claimed');
        expect(await events.claim(['long'], { now: now + HOUR, holdMs: 60_000 })).toBe('known');
      });

      test('a released event can be claimed again', async () => {
        const { events } = opened.records;
        await events.claim(['failed'], { now: 1_000, holdMs: HOUR });
        await events.release(['failed']);
        expect(await events.claim(['failed'], { now: 1_000, holdMs: HOUR })).toBe('claimed');
      });
    });

    describe('runs', () => {
      test('are read back as saved, replaced, and listed newest first', async () => {
        const { runs } = opened.records;
        const first = aRun({ id: 'run-1', startedAt: 10 });
        await runs.save(first);
        await runs.save(aRun({ id: 'run-2', startedAt: 20, mrIid: 8 }));
        await runs.save({ ...first, state: 'ended', ending: 'answered', endedAt: 30 });
        expect(await runs.get('run-1')).toEqual({
          ...first,
          state: 'ended',
          ending: 'answered',
          endedAt: 30,
        });
        expect(await runs.get('nobody')).toBeNull();
        expect((await runs.list({ limit: 10 })).map((run) => run.id)).toEqual(['run-2', 'run-1']);
        expect((await runs.list({ limit: 1 })).map((run) => run.id)).toEqual(['run-2']);
        expect((await runs.list({ limit: 10, state: 'ended' })).map((run) => run.id)).toEqual(['run-1']);
        const ofMr = await runs.list({ limit: 10, mr: { projectId: 5, iid: 7 } });
        expect(ofMr.map((run) => run.id)).toEqual(['run-1']);
      });

      test('a writer whose lease went to somebody else is refused', async () => {
        const { runs, leases } = opened.records;
        const late = await leases.acquire('session-1', { holder: 'late', ttlMs: 1 });
        await expect
          .poll(() => leases.acquire('session-1', { holder: 'next', ttlMs: 60_000 }))
          .not.toBeNull();
        const run = aRun({ id: 'run-fenced', startedAt: 40 });
        await expect(runs.save(run, late ?? undefined)).rejects.toBeInstanceOf(LeaseLostError);
        expect(await runs.get('run-fenced')).toBeNull();
      });
    });

    costsContract(() => opened.records.costs);

    describe('leases', () => {
      test('a lock is held by one, known by name, and free after release', async () => {
        const { leases } = opened.records;
        const tries = ['a', 'b', 'c', 'd', 'e'].map((holder) =>
          leases.acquire('lock', { holder, ttlMs: 60_000 }),
        );
        const [winner, ...others] = (await Promise.all(tries)).filter((lease) => lease !== null);
        if (!winner) throw new Error('nobody got the lock');
        expect(others).toEqual([]);
        const holders = await leases.holders('lock');
        expect(holders).toEqual([
          { holder: winner.holder, token: winner.token, expiresInMs: expect.any(Number) },
        ]);
        expect(holders[0]?.expiresInMs).toBeGreaterThan(50_000);
        await leases.release(winner);
        const next = await leases.acquire('lock', { holder: 'next', ttlMs: 60_000 });
        expect(next?.token).toBeGreaterThan(winner.token);
      });

      test('as many as the limit allows', async () => {
        const { leases } = opened.records;
        const tries = Array.from({ length: 10 }, (_, index) =>
          leases.acquire('places', { holder: `h${index}`, ttlMs: 60_000, limit: 3 }),
        );
        expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(3);
      });

      test('a lease that is not renewed runs out and can not be renewed any more', async () => {
        const { leases } = opened.records;
        const lease = await leases.acquire('brief', { holder: 'a', ttlMs: 60_000 });
        if (!lease) throw new Error('not acquired');
        expect(await leases.renew(lease, 1)).toBe(true);
        await expect.poll(() => leases.acquire('brief', { holder: 'b', ttlMs: 60_000 })).not.toBeNull();
        expect(await leases.renew(lease, 60_000)).toBe(false);
        await leases.release(lease);
        expect((await leases.holders('brief')).map(({ holder }) => holder)).toEqual(['b']);
      });
    });

    test('causes are counted once per run and remember where they were seen', async () => {
      const { causes } = opened.records;
      const sighting = { projectId: 5, fingerprint: 'oom', title: 'Out of memory', mrIid: 7 };
      await causes.note({ ...sighting, runId: 'r1', at: 100 });
      await causes.note({ ...sighting, runId: 'r1', at: 150 });
      const cause = await causes.note({ ...sighting, runId: 'r2', mrIid: 3, at: 200, title: 'OOM killed' });
      expect(cause).toEqual({
        fingerprint: 'oom',
        title: 'OOM killed',
        count: 2,
        firstAt: 100,
        lastAt: 200,
        mrIids: [3, 7],
      });
      await causes.note({ ...sighting, fingerprint: 'lint', runId: 'r3', at: 300 });
      expect((await causes.recent(5, 10)).map(({ fingerprint }) => fingerprint)).toEqual(['lint', 'oom']);
      expect(await causes.get(5, 'oom')).toEqual(cause);
      expect(await causes.get(6, 'oom')).toBeNull();
    });

    test('feedback counts each verdict once, and one taken back stays so in any order', async () => {
      const { feedback } = opened.records;
      const verdict = { projectId: 5, noteId: 9, userId: 1, value: 'up' as const, given: true };
      await feedback.save({ ...verdict, awardId: 1 });
      await feedback.save({ ...verdict, awardId: 1 });
      await feedback.save({ ...verdict, awardId: 2, userId: 2, value: 'down' });
      await feedback.save({ ...verdict, awardId: 3, userId: 3, given: false });
      await feedback.save({ ...verdict, awardId: 3, userId: 3 });
      expect(await feedback.of(5, 9)).toEqual({ up: 1, down: 1 });
      await feedback.save({ ...verdict, awardId: 1, given: false });
      expect(await feedback.of(5, 9)).toEqual({ up: 0, down: 1 });
    });

    test('messages of any size reach every subscriber of their topic, and no one after it left', async () => {
      const other = await openAll(address, {}, backend.shared ? undefined : opened.database);
      const received: unknown[] = [];
      const leave = await opened.records.channel.subscribe('news', (message) => received.push(message));
      await opened.records.channel.subscribe('other', (message) => received.push(message));
      const long = { text: 'ä'.repeat(100_000) };
      await other.records.channel.publish('news', { short: true });
      await other.records.channel.publish('news', long);
      await expect.poll(() => received).toEqual([{ short: true }, long]);
      await leave();
      await other.records.channel.publish('news', 'nobody hears this');
      await other.records.channel.publish('other', 'the last one');
      await expect.poll(() => received.at(-1)).toBe('the last one');
      expect(received).toHaveLength(3);
      await other.close();
    });
  });
}

function aRun(run: Partial<Run>): Run {
  return {
    id: 'run',
    jobId: 'job',
    sessionId: null,
    kind: 'analyze',
    projectId: 5,
    projectPath: 'group/app',
    mrIid: 7,
    sha: 'abc',
    state: 'running',
    ending: null,
    reason: null,
    attempt: 1,
    startedAt: 0,
    endedAt: null,
    usage: null,
    costMicroUsd: null,
    failingSince: null,
    ...run,
  };
}
