import { afterEach, expect, test } from 'vitest';
import type { HookEvent } from '../../src/demo/gitlab/hook.ts';
import { pglite } from '../services/backends.ts';
import { openAll } from '../services/open-backend.ts';
import { createScene, type Scene, WEBHOOK_TOKEN } from './scene.ts';

let scene: Scene;
afterEach(() => scene.close());

const EVENTS: HookEvent[] = [
  'pipeline_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'emoji_events',
];

async function arrange() {
  scene = await createScene({ backend: await pglite.create() });
  const service = await scene.start();
  const { gitlab, project } = scene;
  await expect.poll(() => gitlab.requests.some(({ path }) => path.endsWith('/user'))).toBe(true);
  const url = `${service.url}/webhooks/gitlab`;
  return gitlab.addHook({ projectId: project.id, url, token: WEBHOOK_TOKEN, events: EVENTS });
}

const ended = () => scene.logged.filter(({ msg }) => msg === 'job ended');
const eyesOn = (noteId: number) => scene.gitlab.awards(noteId).filter(({ name }) => name === 'eyes');

test('a call by name gets a reaction in any thread, a thread between people does not', async () => {
  await arrange();
  const { gitlab, mr, nadia } = scene;
  const people = gitlab.addNote({ ...mr, userId: nadia.id, body: 'Shall we rename this?', thread: true });
  gitlab.addNote({ ...mr, userId: nadia.id, body: 'Yes.', discussionId: people.discussionId });
  await expect.poll(ended, { timeout: 10_000 }).toMatchObject([
    { ending: 'nothing-to-do', reason: "the thread is not the agent's" },
    { ending: 'nothing-to-do', reason: "the thread is not the agent's" },
  ]);
  const call = gitlab.addNote({ ...mr, userId: nadia.id, body: '@hummingbird what failed here?' });
  await expect.poll(() => eyesOn(call.id), { timeout: 10_000 }).toHaveLength(1);
});

test('a bot with a name like a person is told by GitLab', async () => {
  await arrange();
  const { gitlab, mr, project } = scene;
  const robot = gitlab.addUser({ username: 'release-notes', name: 'Release notes', bot: true });
  gitlab.setMember(project.id, robot.id, 30);
  const note = gitlab.addNote({ ...mr, userId: robot.id, body: '@hummingbird hello' });
  await expect.poll(ended, { timeout: 10_000 }).toMatchObject([{ reason: 'the note was written by a bot' }]);
  expect(eyesOn(note.id)).toEqual([]);
});

test.each([
  [
    'a push',
    (gitlab: Scene['gitlab'], mr: Scene['mr']) => void gitlab.pushCommit(mr),
    'a new commit was pushed',
  ],
  [
    'a close',
    (gitlab: Scene['gitlab'], mr: Scene['mr']) => void gitlab.closeMergeRequest(mr),
    'the merge request was closed',
  ],
  [
    'a merge',
    (gitlab: Scene['gitlab'], mr: Scene['mr']) => void gitlab.mergeMergeRequest(mr),
    'the merge request was merged',
  ],
])('%s stops the analysis that runs, within two seconds', async (_name, change, reason) => {
  await arrange();
  const { gitlab, mr } = scene;
  gitlab.fail({ match: { path: 'award_emoji' }, with: { delayMs: 20_000 } });
  gitlab.addPipeline({ mergeRequest: mr, status: 'failed', jobs: [{ name: 'test', status: 'failed' }] });
  await expect
    .poll(() => gitlab.requests.some(({ path }) => path.endsWith('/award_emoji')), { timeout: 10_000 })
    .toBe(true);
  const before = Date.now();
  change(gitlab, mr);
  await expect.poll(ended, { timeout: 5_000 }).toMatchObject([{ ending: 'cancelled', reason }]);
  expect(Date.now() - before).toBeLessThan(2_000);
});

test('thumbs on a note of the agent are kept as feedback', async () => {
  await arrange();
  const { gitlab, mr, agent, nadia, project } = scene;
  const analysis = gitlab.addNote({ ...mr, userId: agent.id, body: 'The unit tests failed.' });
  gitlab.award(analysis.id, 'thumbsup', nadia.id);
  const regret = gitlab.award(analysis.id, 'thumbsdown', nadia.id);
  gitlab.revokeAward(regret.id);
  const done = () => scene.logged.filter(({ kind, outcome }) => kind === 'feedback' && outcome === 'done');
  await expect.poll(done, { timeout: 10_000 }).toHaveLength(3);
  await scene.stop();
  const { records, close } = await openAll({ url: scene.env.HUMMINGBIRD_QUEUE_URL, keyPrefix: '' });
  expect(await records.feedback.of(project.id, analysis.id)).toEqual({ up: 1, down: 0 });
  await close();
});

test('GitLab never has a reason to switch the hook off, whatever happens on the merge request', async () => {
  const hook = await arrange();
  const { gitlab, mr, nadia } = scene;
  const note = gitlab.addNote({ ...mr, userId: nadia.id, body: 'Hm.' });
  gitlab.editNote(note.id, 'Hmm.');
  gitlab.addNote({ ...mr, userId: nadia.id, body: 'Only for us.', internal: true });
  gitlab.award(mr, 'tada', nadia.id);
  gitlab.editMergeRequest(mr, { title: 'Another title' });
  gitlab.addPipeline({ mergeRequest: mr, status: 'running', jobs: [{ name: 'test', status: 'running' }] });
  gitlab.closeMergeRequest(mr);
  await gitlab.idle();
  expect(hook.deliveries.length).toBeGreaterThanOrEqual(7);
  expect(hook.deliveries.filter(({ status }) => status !== 200 && status !== 202)).toEqual([]);
  expect(hook).toMatchObject({ recentFailures: 0, disabledUntil: null });
});
