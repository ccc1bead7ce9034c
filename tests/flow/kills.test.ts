// A worker dies at the worst moments; after things have settled there is one note, and nothing was done twice.
import pino from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { listJobs, retryJobs } from '../../src/service/jobs-by-hand.ts';
import { addHookOf, createStory, judge, killAt, MOMENTS, WANTED } from '../faults/killing.ts';
import { pglite, redis, titleOf } from '../services/backends.ts';
import { run, stopProcesses } from './service-process.ts';
import { failPipeline } from './story-scene.ts';

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

test.skipIf(!redis.available)(
  titleOf(
    'more deaths than a job may see are told in the note, and a retry by hand takes it up again',
    redis,
  ),
  async () => {
    const story = await createStory({ backend: await redis.create(), config: { queue: { maxStalled: 1 } } });
    const { scene, listeners } = story;
    try {
      for (const death of [1, 2]) {
        const worker = await run(scene, 'all');
        const { promise: isAsked, resolve } = Promise.withResolvers<void>();
        listeners.push(() => resolve());
        if (death === 1) {
          addHookOf(scene, worker.url);
          failPipeline(scene);
        }
        await isAsked;
        await worker.kill();
        listeners.length = 0;
      }
      await run(scene, 'all');
      const body = () => scene.gitlab.notes(scene.project.id, scene.mr.iid)[0]?.body;
      await expect.poll(body, { timeout: 20_000 }).toContain('2 processes died while they worked on it');

      const [, id = ''] = /hummingbird jobs retry (\S+)`/.exec(body() ?? '') ?? [];
      const { config } = loadConfig({ file: scene.file });
      const byHand = { config, log: pino({ level: 'silent' }), env: scene.env };
      // The note comes a moment before.
      await expect.poll(() => listJobs(byHand)).toMatchObject([{ id, state: 'failed' }]);
      await retryJobs(byHand, [id]);
      const judged = await judge(story, { fault: 'deaths', since: performance.now() });
      expect(judged).toMatchObject({ lost: 0, doubled: 0 });
      expect(judged.note).toContain(WANTED);
    } finally {
      await scene.close();
    }
  },
  90_000,
);
