// Two API and three worker processes on one Redis, and hundreds of events at once: judged note by note.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatMessage } from '@copilotkit/aimock';
import { afterEach, describe, expect, test } from 'vitest';
import type { MergeRequest } from '../../src/demo/gitlab/model.ts';
import { redis, titleOf } from '../services/backends.ts';
import { type ScriptedAnswer, textOf } from '../services/model.ts';
import { createScene, type Scene, WEBHOOK_TOKEN } from './scene.ts';
import { run, stopProcesses } from './service-process.ts';
import { EVENTS } from './story-scene.ts';

afterEach(stopProcesses);

type Subject = Readonly<MergeRequest>;

describe.skipIf(!redis.available)(titleOf('a crowd of events', redis), () => {
  test('ends in the one right state for each merge request', async () => {
    const scene = await createScene({
      backend: await redis.create(),
      config: {
        projects: { 'shop/**': { maxConcurrent: 12, usdPerDay: 1_000 } },
        queue: { concurrency: 4 },
        gitlab: { maxRequestsPerMinute: 100_000 },
      },
    });
    try {
      scene.model.script = answer;
      const apis = await Promise.all([run(scene, 'api'), run(scene, 'api')]);
      const workers = await Promise.all([run(scene, 'worker'), run(scene, 'worker'), run(scene, 'worker')]);
      // Each event reaches both of them.
      const hooks = apis.map(({ url }) =>
        scene.gitlab.addHook({
          projectId: scene.project.id,
          url: `${url}/webhooks/gitlab`,
          token: WEBHOOK_TOKEN,
          events: EVENTS,
        }),
      );
      await Promise.all(
        STORIES.flatMap(({ count, tell }) => Array.from({ length: count }, () => tell(scene))),
      );
      expect(hooks.flatMap(({ deliveries }) => deliveries).length).toBeGreaterThanOrEqual(200);
      // Nothing more comes of it.
      const settled = scene.gitlab.requests.filter(({ method }) => method !== 'GET').length;
      await sleep(2_000);
      expect(scene.gitlab.requests.filter(({ method }) => method !== 'GET')).toHaveLength(settled);
      for (const worker of workers) expect(await worker.end()).toBe(0);
    } finally {
      await scene.close();
    }
  }, 150_000);
});

const STORIES: { count: number; tell: (scene: Scene) => Promise<void> }[] = [
  { count: 8, tell: tellOfFailure },
  { count: 6, tell: tellOfReplies },
  { count: 4, tell: tellOfPush },
  { count: 3, tell: tellOfPushThatDoesNotFail },
  { count: 3, tell: tellOfRetry },
  { count: 3, tell: tellOfMerge },
  { count: 3, tell: tellOfStop },
];

async function tellOfFailure(scene: Scene): Promise<void> {
  const mr = open(scene);
  fail(scene, mr);
  await becomes(scene, mr, [expect.stringMatching(`^Analysis of ${head(mr)}`)]);
}

async function tellOfReplies(scene: Scene): Promise<void> {
  const mr = open(scene);
  fail(scene, mr);
  const { discussionId } = await firstNote(scene, mr);
  for (const body of ['Which one is first?', 'Which one is last?'])
    scene.gitlab.addNote({ ...mr, userId: scene.nadia.id, body, discussionId });
  await becomes(scene, mr, [
    expect.stringMatching(`^Analysis of ${head(mr)}`),
    expect.stringMatching('^Answer to: Which one is first'),
    expect.stringMatching('^Answer to: Which one is last'),
  ]);
}

async function tellOfPush(scene: Scene): Promise<void> {
  const mr = open(scene);
  fail(scene, mr);
  await sleep(Math.random() * 1_500);
  scene.gitlab.pushCommit(mr);
  fail(scene, mr);
  await becomes(scene, mr, [expect.stringMatching(`^Analysis of ${head(mr)}`)]);
}

async function tellOfPushThatDoesNotFail(scene: Scene): Promise<void> {
  const mr = open(scene);
  const old = head(mr);
  fail(scene, mr);
  await firstNote(scene, mr);
  scene.gitlab.pushCommit(mr);
  await becomes(scene, mr, [expect.stringMatching(new RegExp(`Outdated.*Analysis of ${old}`, 's'))]);
}

async function tellOfRetry(scene: Scene): Promise<void> {
  const mr = open(scene);
  const { jobId } = fail(scene, mr);
  await firstNote(scene, mr);
  const retried = scene.gitlab.retryJob(jobId);
  scene.gitlab.setJobStatus(retried.id, 'success');
  await becomes(scene, mr, [
    expect.stringMatching(new RegExp(`Passed on retry.*Analysis of ${head(mr)}`, 's')),
  ]);
}

async function tellOfMerge(scene: Scene): Promise<void> {
  const mr = open(scene);
  fail(scene, mr);
  await sleep(Math.random() * 1_500);
  scene.gitlab.mergeMergeRequest(mr);
  const posted = bodies(scene, mr);
  await sleep(5_000);
  // What was written before stays; nothing is written any more.
  expect(bodies(scene, mr).length).toBeLessThanOrEqual(Math.max(1, posted.length));
}

async function tellOfStop(scene: Scene): Promise<void> {
  const mr = open(scene);
  fail(scene, mr);
  await expect.poll(() => scene.gitlab.awards(mr), { timeout: 60_000, interval: 20 }).toHaveLength(1);
  const stop = scene.gitlab.addNote({
    ...mr,
    userId: scene.nadia.id,
    body: '@hummingbird stop',
    thread: true,
  });
  await expect
    .poll(() => scene.gitlab.awards(stop.id), { timeout: 60_000 })
    .toMatchObject([{ name: 'thumbsup' }]);
  const posted = bodies(scene, mr).length;
  await sleep(3_000);
  expect(bodies(scene, mr)).toHaveLength(posted);
}

let branches = 0;

function open({ gitlab, project, nadia }: Scene): Subject {
  branches += 1;
  return gitlab.addMergeRequest({
    projectId: project.id,
    authorId: nadia.id,
    title: `Change ${branches}`,
    sourceBranch: `change-${branches}`,
  });
}

function fail({ gitlab }: Scene, mr: Subject): { jobId: number } {
  const pipeline = gitlab.addPipeline({ mergeRequest: mr, jobs: [{ name: 'unit tests' }] });
  const jobId = gitlab.jobs(pipeline.id)[0]?.id ?? 0;
  gitlab.setJobStatus(jobId, 'failed', { failureReason: 'script_failure' });
  return { jobId };
}

const head = (mr: Subject): string => mr.commits.at(-1) ?? '';

function bodies({ gitlab, project, agent }: Scene, { iid }: Subject): string[] {
  const notes = gitlab.notes(project.id, iid).filter(({ authorId }) => authorId === agent.id);
  return notes.map(({ body }) => body);
}

async function firstNote(scene: Scene, mr: Subject) {
  await expect.poll(() => bodies(scene, mr), { timeout: 100_000 }).toHaveLength(1);
  const [note] = scene.gitlab.notes(scene.project.id, mr.iid);
  if (!note) throw new Error('there is no note');
  return note;
}

/** Exactly these notes of the agent, in this order. */
async function becomes(scene: Scene, mr: Subject, wanted: unknown[]): Promise<void> {
  await expect.poll(() => bodies(scene, mr), { timeout: 100_000, interval: 200 }).toEqual(wanted);
}

/** Takes a while, then says what it was asked about. */
function answer(conversation: ChatMessage[]): ScriptedAnswer {
  const asked = conversation.findLastIndex(({ role }) => role === 'user');
  const hasLooked = conversation.slice(asked).some(({ role }) => role === 'tool');
  if (!hasLooked)
    return { calls: [{ name: 'sandbox_exec', arguments: { command: 'sleep 0.3; echo seen' } }] };
  const question = conversation[asked];
  const text = question ? textOf(question) : '';
  const [, sha] = /"sha":"([0-9a-f]{40})"/.exec(conversation.map(textOf).join('\n')) ?? [];
  const isEvent = text.startsWith('{') || text.startsWith('[More has failed');
  return { text: isEvent ? `Analysis of ${sha}.` : `Answer to: ${text}` };
}
