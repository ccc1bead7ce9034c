import { expect, onTestFinished, test } from 'vitest';
import { PermanentError } from '../../../src/errors.ts';
import { createRedactor } from '../../../src/redact/redactor.ts';
import { redactFailures } from '../../../src/service/redact-failures.ts';
import { pglite } from '../../services/backends.ts';
import { openAll } from '../../services/open-backend.ts';

const OWN = 'own-token-of-the-service-1';

test('the queue keeps why a job failed, without secrets', async () => {
  const { queue, close } = await openAll(await pglite.create());
  onTestFinished(close);
  const fail = async (): Promise<never> => {
    throw new PermanentError(`refused ${OWN}`, { cause: new Error(OWN) });
  };
  const worker = await queue.work(redactFailures(fail, createRedactor({ secrets: [OWN] })), {
    concurrency: 1,
    maxConcurrent: () => 1,
    onError: () => undefined,
  });
  await queue.add(
    {
      kind: 'analyze',
      project: { id: 5, path: 'group/app' },
      mrIid: 7,
      sha: 'abc',
      isMergeResult: false,
      pipeline: { id: 31, projectId: 5 },
    },
    'event-1',
  );
  await expect.poll(async () => (await queue.list(5))[0]?.state, { timeout: 10_000 }).toBe('failed');
  const jobs = await queue.list(5);
  expect(jobs[0]?.reason).toContain('refused [redacted: own-secret]');
  expect(JSON.stringify(jobs)).not.toContain(OWN);
  await worker.stop(0);
});
