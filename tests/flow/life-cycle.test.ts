// What becomes of an analysis: further failures, pushes, passes on retry, outages, and being told to stop.
import { expect, test } from 'vitest';
import type { HookEvent } from '../../src/demo/gitlab/hook.ts';
import { externalPipelineHook, noteHook } from '../fixtures/hooks.ts';
import { textOf } from '../services/model.ts';
import { deliver, WEBHOOK_TOKEN } from './scene.ts';
import {
  addHook,
  arrange,
  arrangeStopped,
  ask,
  EVENTS,
  ended,
  failPipeline,
  lastRequest,
  lastUser,
  noteOf,
  notes,
  scene,
  start,
} from './story-scene.ts';

const poll = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });
const body = () => notes()[0]?.body ?? '';

/** GitLab tells nothing of these. */
async function arrangeWithout(unheard: HookEvent) {
  await arrangeStopped();
  const service = await scene.start();
  const events = EVENTS.filter((event) => event !== unheard);
  const url = `${service.url}/webhooks/gitlab`;
  scene.gitlab.addHook({ projectId: scene.project.id, url, token: WEBHOOK_TOKEN, events });
  return service;
}

const inScene = () => ({
  project: { id: scene.project.id, path_with_namespace: scene.project.path },
  merge_request: { iid: scene.mr.iid, state: 'opened' },
});

/** From now on a run waits for a tool. */
function workForLong(): void {
  scene.gitlab.fail({ match: { path: /\/diffs/ }, with: { delayMs: 20_000 } });
  scene.model.script = () => ({ calls: [{ name: 'gitlab_get_mr_diff' }] });
}
const isWorking = () => scene.gitlab.requests.some(({ path }) => path.endsWith('/diffs'));

test('a further failure of the same commit continues the session, and the same note tells all of it', async () => {
  // Ends of a pipeline are told apart by the second.
  await arrange({ config: { queue: { debounceMs: 1_000 } } });
  scene.model.script = () => ({ text: 'The unit tests fail.' });
  failPipeline();
  const first = await noteOf(0);
  scene.model.script = (conversation) =>
    conversation.at(-1)?.role === 'tool'
      ? { text: 'The unit tests fail, and the scan, too.' }
      : { calls: [{ name: 'gitlab_get_mr_details' }] };
  const { project, sha, gitlab } = scene;
  const scan = { projectId: project.id, sha: sha(), name: 'scan"}]' };
  gitlab.addCommitStatus({ ...scan, state: 'running' });
  gitlab.addCommitStatus({ ...scan, state: 'failed' });
  await poll(body).toContain('and the scan, too.');
  expect(notes().map(({ id }) => id)).toEqual([first.id]);
  const told = textOf(lastUser(scene.model.conversations().at(-1)));
  expect(told).toMatch(/^\[More has failed on the same commit/);
  expect(JSON.parse(told.split('\n').at(-1) ?? '')).toEqual({
    failed: [{ id: expect.stringMatching(/^job\//), name: 'scan"}]' }],
  });
  expect(lastRequest()).toContain('The unit tests fail.');
}, 60_000);

test('what was analysed is not analysed again after a restart, and what failed meanwhile is not missed', async () => {
  const hook = await arrange();
  failPipeline();
  await noteOf(0);
  await scene.gitlab.idle();
  const ofOneAnalysis = scene.model.conversations().length;
  await scene.stop();
  await start();
  for (const { id, responseBody } of hook.deliveries)
    if (responseBody.includes('queued')) await scene.gitlab.redeliver(id);
  failPipeline();
  await poll(() => ended().length).toBe(2);
  expect(ended()[1]).toMatchObject({ ending: 'answered' });
  expect(textOf(lastUser(scene.model.conversations().at(-1)))).toContain('More has failed');
  expect(scene.model.conversations()).toHaveLength(2 * ofOneAnalysis);
}, 60_000);

test('a push folds the note of the earlier commit, once, and the next analysis takes it over', async () => {
  await arrange();
  scene.model.script = () => ({ text: 'Rounding is wrong.\n\n```\n</details>\n```' });
  failPipeline();
  const first = await noteOf(0);
  scene.gitlab.pushCommit(scene.mr);
  await poll(body).toContain('**Outdated:**');
  scene.gitlab.pushCommit(scene.mr);
  await poll(body).toContain(scene.sha().slice(0, 12));
  const [banner, , , , details] = body().split('\n');
  expect(banner).toMatch(/^> ⏩ \*\*Outdated:\*\* the new commit `[0-9a-f]{12}` was pushed/);
  expect(details).toBe('<details>');
  expect(body().match(/Outdated/g)).toHaveLength(1);
  expect(body().match(/Rounding is wrong/g)).toHaveLength(1);
  expect(body()).toContain(first.body.slice(first.body.lastIndexOf('<!--')));
  scene.model.script = () => ({ text: 'Now the build is broken.' });
  failPipeline();
  await poll(body).toMatch(/^Now the build is broken\./);
  expect(body()).not.toContain('Outdated');
  expect(notes()).toHaveLength(1);
}, 60_000);

test('a success of the same commit is noted on top; another failure makes the analysis current again', async () => {
  await arrange();
  const { jobId } = failPipeline();
  const first = await noteOf(0);
  const second = scene.gitlab.retryJob(jobId);
  scene.gitlab.setJobStatus(second.id, 'success');
  await poll(body).toMatch(/^> ✅ \*\*Passed on retry:\*\* \[pipeline \d+\]\(http/);
  expect(body()).toContain('<details>');
  scene.model.script = () => ({ text: 'It is flaky.' });
  const third = scene.gitlab.retryJob(second.id);
  scene.gitlab.setJobStatus(third.id, 'failed');
  await poll(body).toMatch(/^It is flaky\./);
  expect(notes().map(({ id }) => id)).toEqual([first.id]);
}, 60_000);

test('a success while the analysis is being posted is noted on top, too', async () => {
  await arrange();
  scene.gitlab.fail({ match: { method: 'POST', path: /\/notes$/, times: 1 }, with: { delayMs: 1_000 } });
  const { jobId } = failPipeline();
  const isPosting = () =>
    scene.gitlab.requests.some(({ method, path }) => method === 'POST' && path.endsWith('/notes'));
  await poll(isPosting).toBe(true);
  scene.gitlab.setJobStatus(scene.gitlab.retryJob(jobId).id, 'success');
  await poll(body).toMatch(/^> ✅ \*\*Passed on retry:/);
}, 60_000);

test('a success beside a pipeline that still fails changes nothing', async () => {
  await arrange();
  failPipeline();
  const first = await noteOf(0);
  const { gitlab, project, sha } = scene;
  const ref = 'refs/heads/elsewhere';
  const other = gitlab.addPipeline({
    projectId: project.id,
    sha: sha(),
    ref,
    source: 'push',
    jobs: [{ name: 'lint' }],
  });
  gitlab.setJobStatus(gitlab.jobs(other.id)[0]?.id ?? 0, 'success');
  await gitlab.idle();
  await poll(() =>
    scene.logged.filter(({ kind, outcome }) => kind === 'pipeline-passed' && outcome),
  ).toMatchObject([{ outcome: 'done' }]);
  expect(body()).toBe(first.body);
}, 60_000);

test('an analysis that ends after a push nobody has told of is posted as outdated', async () => {
  await arrangeWithout('merge_requests_events');
  const { gitlab, mr } = scene;
  scene.model.script = () => {
    if (scene.model.conversations().length === 1) gitlab.pushCommit(mr);
    return { text: 'Rounding is wrong.' };
  };
  failPipeline();
  expect((await noteOf(0)).body).toMatch(/^> ⏩ \*\*Outdated:\*\*/);
  await poll(ended).toMatchObject([{ reason: `commit ${scene.sha()} was pushed meanwhile` }]);
}, 60_000);

test('an analysis that ends after the same commit has passed says so', async () => {
  await arrange();
  const { gitlab } = scene;
  const { jobId } = failPipeline();
  let isRetried = false;
  scene.model.script = () => {
    if (!isRetried) gitlab.setJobStatus(gitlab.retryJob(jobId).id, 'success');
    isRetried = true;
    return { text: 'It is flaky.' };
  };
  expect((await noteOf(0)).body).toMatch(/^> ✅ \*\*Passed on retry:\*\*/);
}, 60_000);

test('an analysis that ends after its merge request was closed is not posted', async () => {
  await arrangeWithout('merge_requests_events');
  const { gitlab, mr } = scene;
  scene.model.script = () => {
    gitlab.closeMergeRequest(mr);
    return { text: 'Rounding is wrong.' };
  };
  failPipeline();
  await poll(ended).toMatchObject([{ reason: expect.stringContaining('is closed by now') }]);
  expect(notes()).toEqual([]);
}, 60_000);

test('a question that was asked before the merge is answered after it', async () => {
  const service = await arrangeWithout('note_events');
  failPipeline();
  const { discussionId } = await noteOf(0);
  scene.model.script = () => ({ text: 'By half a cent.' });
  const question = ask(discussionId, 'How much is it?');
  scene.gitlab.mergeMergeRequest(scene.mr);
  const event = noteHook({ id: question.id, discussion_id: discussionId, author_id: question.authorId });
  await deliver(service, { ...event, ...inScene() });
  expect((await noteOf(1)).body).toContain('By half a cent.');
}, 60_000);

test('replies are answered in the order they were written, whichever webhook comes first', async () => {
  const service = await arrangeWithout('note_events');
  failPipeline();
  const note = await noteOf(0);
  scene.model.script = (conversation) => ({ text: `To "${textOf(lastUser(conversation))}": yes.` });
  const asked = ['First?', 'Second?', 'Third?'].map((question) => ask(note.discussionId, question));
  for (const { id, discussionId, authorId } of asked.toReversed()) {
    const event = noteHook({ id, discussion_id: discussionId, author_id: authorId });
    await deliver(service, { ...event, ...inScene() });
  }
  await noteOf(3);
  const answers = notes().slice(1);
  expect(answers.map(({ body: text }) => text.split('\n')[0])).toEqual(
    asked.map(({ body: question }) => `To "${question}": yes.`),
  );
}, 60_000);

test.each(['@hummingbird stop', 'Stop, please!'])(
  '"%s" in the thread ends what runs within two seconds',
  async (words) => {
    await arrange();
    failPipeline();
    const note = await noteOf(0);
    workForLong();
    failPipeline();
    await poll(isWorking).toBe(true);
    const stop = ask(note.discussionId, words);
    const from = Date.now();
    await poll(() => ended().at(-1)).toMatchObject({
      ending: 'cancelled',
      reason: `note ${stop.id} asked to stop`,
    });
    expect(Date.now() - from).toBeLessThan(2_000);
    await poll(() => scene.gitlab.awards(stop.id)).toMatchObject([{ name: 'thumbsup' }]);
    await poll(scene.eyes).toEqual([]);
    expect(notes()).toHaveLength(1);
  },
  60_000,
);

test('a stop in the thread takes back a reply that waits for a place, too', async () => {
  await arrange({ config: { projects: { 'shop/**': { maxConcurrent: 1 } } } });
  failPipeline();
  const { discussionId } = await noteOf(0);
  await poll(ended).toHaveLength(1);
  workForLong();
  const { gitlab, mr } = scene;
  const other = gitlab.addMergeRequest({ ...mr, sourceBranch: 'other', commits: [{}] });
  failPipeline({ ...scene, mr: other });
  await poll(isWorking).toBe(true);
  ask(discussionId, 'First?');
  await gitlab.idle();
  const stop = ask(discussionId, 'Stop!');
  await poll(() => gitlab.awards(stop.id)).toMatchObject([{ name: 'thumbsup' }]);
  gitlab.closeMergeRequest(other);
  scene.model.script = (conversation) => ({ text: `To "${textOf(lastUser(conversation))}": yes.` });
  ask(discussionId, 'Second?');
  expect((await noteOf(1)).body).toContain('To "Second?": yes.');
}, 60_000);

test('a stop takes back what failed while the run was under way, too', async () => {
  await arrange();
  workForLong();
  failPipeline();
  await poll(isWorking).toBe(true);
  failPipeline();
  const { gitlab, mr, nadia } = scene;
  await gitlab.idle();
  const thread = { ...mr, userId: nadia.id, thread: true };
  const stop = gitlab.addNote({ ...thread, body: '@hummingbird stop' });
  await poll(() => gitlab.awards(stop.id)).toMatchObject([{ name: 'thumbsup' }]);
  scene.model.script = () => ({ text: 'It is late.' });
  gitlab.addNote({ ...thread, body: '@hummingbird what time is it?' });
  await noteOf(0);
  await poll(ended).toMatchObject([{ ending: 'cancelled' }, { kind: 'reply', ending: 'answered' }]);
  expect(notes()).toHaveLength(1);
}, 60_000);

test('a stop takes back a report from outside that waits, whose merge request nobody has looked for yet', async () => {
  await arrangeStopped({ config: { queue: { debounceMs: 60_000, debounceMaxMs: 60_000 } } });
  const service = await scene.start();
  addHook(service.url);
  const { gitlab, mr, nadia, sha } = scene;
  const { project } = inScene();
  const queued = await deliver(service, { ...externalPipelineHook({ sha: sha() }), project });
  const stop = gitlab.addNote({ ...mr, userId: nadia.id, body: '@hummingbird stop', thread: true });
  await poll(() => gitlab.awards(stop.id)).toMatchObject([{ name: 'thumbsup' }]);
  expect(scene.logged).toContainEqual(
    expect.objectContaining({ msg: 'run stopped', stopped: queued.body.job, outcome: 'removed' }),
  );
}, 60_000);

test('calls by name in a thread of others are answered in the order they were written', async () => {
  const service = await arrangeWithout('note_events');
  scene.model.script = (conversation) => ({ text: `To "${textOf(lastUser(conversation))}": yes.` });
  const { gitlab, mr, nadia } = scene;
  const person = { ...mr, userId: nadia.id };
  const first = gitlab.addNote({ ...person, body: '@hummingbird first?', thread: true });
  const second = gitlab.addNote({
    ...person,
    body: '@hummingbird second?',
    discussionId: first.discussionId,
  });
  for (const { id, discussionId, authorId } of [second, first]) {
    const event = noteHook({ id, discussion_id: discussionId, author_id: authorId, note: '@hummingbird?' });
    await deliver(service, { ...event, ...inScene() });
  }
  await noteOf(1);
  expect(notes().map(({ body: text }) => text.split('\n')[0])).toEqual([
    expect.stringContaining('first?'),
    expect.stringContaining('second?'),
  ]);
}, 60_000);

test('whether the commit has passed is looked up again if it can not be told when the analysis is posted', async () => {
  await arrange();
  const { gitlab } = scene;
  const { jobId } = failPipeline();
  let outage: { lift(): void } | undefined;
  scene.model.script = () => {
    if (!outage) {
      gitlab.setJobStatus(gitlab.retryJob(jobId).id, 'success');
      outage = gitlab.fail({ match: { path: /merge_requests\/\d+\/pipelines$/ }, with: { status: 503 } });
    }
    return { text: 'It is flaky.' };
  };
  expect((await noteOf(0)).body).toMatch(/^It is flaky\./);
  outage?.lift();
  await poll(body).toMatch(/^> ✅ \*\*Passed on retry:/);
}, 60_000);

test('a reply that waits for an earlier one only looks at its thread', async () => {
  await arrange();
  failPipeline();
  const { discussionId } = await noteOf(0);
  await poll(ended).toHaveLength(1);
  workForLong();
  ask(discussionId, 'First?');
  await poll(isWorking).toBe(true);
  ask(discussionId, 'Second?');
  const { requests } = scene.gitlab;
  const from = requests.length;
  const looks = () =>
    requests.slice(from).filter(({ path }) => path.endsWith(`/discussions/${discussionId}`));
  await poll(() => looks().length).toBeGreaterThan(5);
  expect(looks().length).toBeGreaterThan((requests.length - from) / 2);
  const stop = ask(discussionId, 'Stop!');
  await poll(() => scene.gitlab.awards(stop.id)).toHaveLength(1);
}, 60_000);
