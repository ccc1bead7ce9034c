// What runs in one process ends within two seconds when another one hears that nobody wants it any more.
import { afterEach, describe, expect, test } from 'vitest';
import { redis, titleOf } from '../services/backends.ts';
import { textOf } from '../services/model.ts';
import { createScene, type Scene, WEBHOOK_TOKEN } from './scene.ts';
import { run, stopProcesses } from './service-process.ts';
import { EVENTS } from './story-scene.ts';

afterEach(stopProcesses);

const WITHIN_MS = 2_000;

type Subject = Scene['mr'];
type Lines = readonly Record<string, unknown>[];

const ENDS: [string, (scene: Scene, mr: Subject) => unknown][] = [
  ['a push', ({ gitlab }, mr) => gitlab.pushCommit(mr)],
  ['its merge', ({ gitlab }, mr) => gitlab.mergeMergeRequest(mr)],
  ['its close', ({ gitlab }, mr) => gitlab.closeMergeRequest(mr)],
  [
    'a stop request',
    ({ gitlab, nadia }, mr) =>
      gitlab.addNote({ ...mr, userId: nadia.id, body: '@hummingbird stop', thread: true }),
  ],
];
/** By merge request. */
const jobs = new Map<number, number>();
/** So that the other process is sure to hear of some. */
const OF_EACH = 2;

describe.skipIf(!redis.available)(titleOf('two workers and an API', redis), () => {
  test(`${ENDS.map(([what]) => what).join(', ')} each end a run within two seconds`, async () => {
    const scene = await createScene({
      backend: await redis.create(),
      config: {
        projects: { 'shop/**': { maxConcurrent: 20, usdPerDay: 1_000 } },
        queue: { concurrency: ENDS.length * OF_EACH },
      },
    });
    try {
      // Each run waits for a log that does not come.
      scene.gitlab.fail({ match: { path: /\/trace$/ }, with: { delayMs: 60_000 } });
      scene.model.script = (conversation) => {
        const [, iid] = /"iid":(\d+)/.exec(conversation.map(textOf).join()) ?? [];
        return { calls: [{ name: 'gitlab_get_job_log', arguments: { job_id: jobs.get(Number(iid)) } }] };
      };
      const [api, worker] = await Promise.all([run(scene, 'api'), run(scene, 'worker')]);
      scene.gitlab.addHook({
        projectId: scene.project.id,
        url: `${api.url}/webhooks/gitlab`,
        token: WEBHOOK_TOKEN,
        events: EVENTS,
      });
      const stories = ENDS.flatMap((end) => Array.from({ length: OF_EACH }, () => end)).map(
        ([what, end], at) => ({ what, end, mr: fail(scene, `change-${at}`) }),
      );
      await expect.poll(() => scene.model.conversations().length, { timeout: 60_000 }).toBe(stories.length);
      // All of them run in the first one.
      const other = await run(scene, 'worker');

      const tookMs: Record<string, number[]> = {};
      await Promise.all(
        stories.map(async ({ what, end, mr }) => {
          const before = performance.now();
          end(scene, mr);
          await expect
            .poll(() => endingOf(worker.lines, mr), { timeout: 20_000, interval: 20 })
            .toBe('cancelled');
          tookMs[what] = [...(tookMs[what] ?? []), performance.now() - before];
        }),
      );
      for (const [what, took] of Object.entries(tookMs))
        expect(Math.max(...took), what).toBeLessThan(WITHIN_MS);
      expect(other.lines.filter(({ msg }) => msg === 'run stopped')).not.toEqual([]);
      for (const { mr } of stories) expect(notesOf(scene, mr)).toEqual([]);
    } finally {
      await scene.close();
    }
  }, 120_000);
});

function fail({ gitlab, project, nadia }: Scene, sourceBranch: string): Subject {
  const mr = gitlab.addMergeRequest({
    projectId: project.id,
    authorId: nadia.id,
    title: sourceBranch,
    sourceBranch,
  });
  const pipeline = gitlab.addPipeline({ mergeRequest: mr, jobs: [{ name: 'unit tests' }] });
  const jobId = gitlab.jobs(pipeline.id)[0]?.id ?? 0;
  jobs.set(mr.iid, jobId);
  gitlab.setJobStatus(jobId, 'failed', { failureReason: 'script_failure' });
  return mr;
}

function endingOf(lines: Lines, { iid }: Subject): unknown {
  return lines.find(({ msg, mr }) => msg === 'job ended' && mr === iid)?.ending;
}

function notesOf({ gitlab, project, agent }: Scene, { iid }: Subject) {
  return gitlab.notes(project.id, iid).filter(({ authorId }) => authorId === agent.id);
}
