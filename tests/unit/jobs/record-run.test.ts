import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { RetryableError } from '../../../src/errors.ts';
import { recordRun } from '../../../src/jobs/record-run.ts';
import { type JobContext, WorkersDiedError } from '../../../src/queue/queue.ts';
import { createRedactor } from '../../../src/redact/redactor.ts';
import type { MergeRequest } from '../../../src/sources/gitlab/merge-requests.ts';
import { pglite } from '../../services/backends.ts';
import { type Opened, openAll } from '../../services/open-backend.ts';
import { redactor } from '../../services/redactor.ts';

let opened: Opened;
afterEach(() => opened.close());

const context: JobContext = {
  id: 'job-1',
  job: {
    kind: 'analyze',
    project: { id: 5, path: 'group/app' },
    mrIid: 7,
    sha: 'abc',
    isMergeResult: false,
    pipeline: { id: 31, projectId: 5 },
  },
  attempt: 1,
  isLastAttempt: true,
  signal: new AbortController().signal,
};

async function open() {
  opened = await openAll(await pglite.create());
  const failed: unknown[] = [];
  const onFailed = async (run: unknown): Promise<void> => void failed.push(run);
  return { records: opened.records, redactor, now: () => 1_000, onFailed, failed };
}

test('a holder that comes late does not write over the record of the next one', async () => {
  const recording = await open();
  const { leases, runs } = recording.records;
  const late = recordRun(recording, context, pino({ level: 'silent' }), async (record) => {
    const lease = await leases.acquire('session-1', { holder: 'late', ttlMs: 1 });
    if (!lease) throw new Error('no lease');
    record.hold(lease);
    await expect.poll(() => leases.acquire('session-1', { holder: 'next', ttlMs: 60_000 })).not.toBeNull();
    await record.end({ ending: 'answered', reason: 'by the late one' });
    return { ending: 'answered', reason: 'by the late one' };
  });
  // It steps aside, and is not taken for failed.
  await expect(late).rejects.toMatchObject({ name: 'NotYet' });
  expect(await runs.get('job-1')).toMatchObject({ state: 'running', ending: null });
  expect(recording.failed).toEqual([]);
});

test('whose workers died too often is told of with what an earlier try knew, and is not worked on', async () => {
  const recording = await open();
  const log = pino({ level: 'silent' });
  const mr = { iid: 7, sha: 'abc' } as MergeRequest;
  await recordRun(recording, { ...context, isLastAttempt: false }, log, async (record) => {
    await record.about(mr, 'session-1');
    throw new RetryableError('away');
  }).catch(() => undefined);
  const hopeless = new WorkersDiedError(21);
  let isWorkedOn = false;
  const last = recordRun(recording, { ...context, isLastAttempt: false, hopeless }, log, async () => {
    isWorkedOn = true;
    return { ending: 'answered', reason: '' };
  });
  await expect(last).rejects.toThrow(hopeless);
  expect(isWorkedOn).toBe(false);
  expect(recording.failed).toMatchObject([{ sessionId: 'session-1', mrIid: 7, ending: 'failed' }]);
});

test('remembers over its tries since when it fails, and tells once that it will not be tried again', async () => {
  const recording = await open();
  const log = pino({ level: 'silent' });
  const fail = async () => Promise.reject(new Error('away'));
  await recordRun(recording, { ...context, isLastAttempt: false }, log, fail).catch(() => undefined);
  expect(recording.failed).toEqual([]);
  const later = { ...recording, now: () => 9_000 };
  await expect(recordRun(later, { ...context, attempt: 2 }, log, fail)).rejects.toThrow('away');
  expect(recording.failed).toMatchObject([
    { failingSince: 1_000, attempt: 2, ending: 'failed', endedAt: 9_000 },
  ]);
});

test('has no secret in why it ended, whether it failed or not', async () => {
  const recording = { ...(await open()), redactor: createRedactor({ secrets: ['own-token-of-ours-1'] }) };
  const log = pino({ level: 'silent' });
  const fail = async () => Promise.reject(new Error('no answer for own-token-of-ours-1'));
  await recordRun(recording, context, log, fail).catch(() => undefined);
  const answer = async () => ({ ending: 'answered', reason: 'said own-token-of-ours-1' });
  await recordRun(recording, { ...context, id: 'job-2' }, log, answer);
  const { runs } = recording.records;
  expect([await runs.get('job-1'), await runs.get('job-2')]).toMatchObject([
    { ending: 'failed', reason: 'Error: no answer for [redacted: own-secret]' },
    { ending: 'answered', reason: 'said [redacted: own-secret]' },
  ]);
});
