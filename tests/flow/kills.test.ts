// A worker dies at the worst moments; after things have settled there is one note, and nothing was done twice.
import { afterEach, describe, expect, test } from 'vitest';
import { killAt, MOMENTS, WANTED } from '../faults/killing.ts';
import { pglite, redis, titleOf } from '../services/backends.ts';
import { stopProcesses } from './service-process.ts';

afterEach(stopProcesses);

const CASES = [
  { backend: redis, moments: [MOMENTS.whileToolRuns] },
  { backend: redis, moments: [MOMENTS.inCompaction] },
  { backend: redis, moments: [MOMENTS.whilePosting] },
  { backend: pglite, moments: [MOMENTS.betweenFilesAndContext] },
  { backend: pglite, moments: [MOMENTS.whileModelAnswers, MOMENTS.whilePosting] },
];

describe.each(CASES)('killed $moments.0.name', ({ backend, moments }) => {
  test.skipIf(!backend.available)(
    titleOf(`${moments.length} of them leave one note`, backend),
    async () => {
      const outcome = await killAt(backend, moments);
      expect(outcome).toMatchObject({ lost: 0, doubled: 0, isInTime: true });
      expect(outcome.note).toContain(WANTED);
      expect(outcome.turnsRepeated).toBeLessThanOrEqual(moments.length);
    },
    90_000,
  );
});
