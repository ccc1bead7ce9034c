import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startModel, textOf } from '../services/model.ts';
import { ANSWER, MODELS } from './scene.ts';
import {
  arrange,
  arrangeStopped,
  ask,
  ended,
  FINDING,
  failPipeline,
  investigate,
  lastRequest,
  lastUser,
  noteOf,
  notes,
  PROVIDERS,
  REPLY,
  scene,
  start,
  system,
} from './story-scene.ts';

describe.each(PROVIDERS)('with %s', (provider) => {
  test('a failed pipeline becomes one note with what the agent found, a reply an answer in its thread', async () => {
    await arrange({ provider });
    const { jobId } = failPipeline();
    scene.model.script = investigate(jobId);

    const note = await noteOf(0);
    expect(note.body).toContain(FINDING);
    expect(note.body).toMatch(/Hummingbird · (anthropic|gemini)\//);
    expect(scene.gitlab.discussions(scene.project.id, scene.mr.iid)).toHaveLength(1);
    const [first] = scene.model.conversations();
    expect(JSON.parse(textOf(lastUser(first)))).toEqual({
      project: 'shop/checkout',
      iid: scene.mr.iid,
      sha: scene.sha(),
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(system(first)).toContain('why did this merge request fail');
    expect(system(first)).not.toContain('follow-up to a previous conversation');

    const before = scene.model.conversations().length;
    const question = ask(note.discussionId, 'Is the e2e failure the same problem?');
    const answer = await noteOf(1);
    expect(answer.body).toContain(REPLY);
    expect(answer.discussionId).toBe(note.discussionId);
    expect(scene.gitlab.awards(question.id)).toMatchObject([{ name: 'eyes', userId: scene.agent.id }]);
    const resumed = scene.model.conversations()[before];
    expect(system(resumed)).toContain('Do NOT re-run the full workflow from scratch');
    expect(textOf(lastUser(resumed))).toBe('Is the e2e failure the same problem?');
    const whole = resumed?.map(textOf).join('\n');
    expect(whole).toContain('"session_id"');
    expect(whole).toContain('expected 10.00 to equal 10.01');
    // The file fetched in the first run is still there.
    const last = scene.model.conversations().at(-1)?.map(textOf).join('\n');
    expect(last).toContain('2001:AssertionError: expected 10.00 to equal 10.01');
    expect(notes()).toHaveLength(2);
  });

  test('the process may stop and start between note and reply', async () => {
    await arrange({ provider });
    const { jobId } = failPipeline();
    scene.model.script = investigate(jobId);
    const note = await noteOf(0);
    await scene.stop();
    await start();
    ask(note.discussionId, 'And now?');
    expect((await noteOf(1)).body).toContain(REPLY);
    expect(scene.model.conversations().at(-1)?.map(textOf).join('\n')).toContain('2001:AssertionError');
  });

  test('a thread the agent has answered in is marked as resolved, if the configuration wants that', async () => {
    await arrange({ provider, config: { gitlab: { resolveThreads: true } } });
    failPipeline();
    const note = await noteOf(0);
    expect(note.resolvedById).toBeNull();
    ask(note.discussionId, 'Why?');
    const answer = await noteOf(1);
    expect(answer.discussionId).toBe(note.discussionId);
    await expect.poll(() => notes()[1]?.resolvedById).toBe(scene.agent.id);
  });

  test('a reply that only says thanks gets a thumb, not a run', async () => {
    await arrange({ provider });
    failPipeline();
    const note = await noteOf(0);
    const before = scene.model.conversations().length;
    const thanks = ask(note.discussionId, 'Thanks, good catch! :tada:');
    await expect
      .poll(() => scene.gitlab.awards(thanks.id), { timeout: 20_000 })
      .toMatchObject([{ name: 'thumbsup', userId: scene.agent.id }]);
    await expect.poll(ended).toContainEqual(expect.objectContaining({ ending: 'small-talk' }));
    expect(scene.model.conversations()).toHaveLength(before);
    expect(notes()).toHaveLength(1);
  });

  test('two replies in quick succession are answered one after the other, in one conversation', async () => {
    await arrange({ provider });
    failPipeline();
    const note = await noteOf(0);
    scene.model.script = (conversation) => ({ text: `To "${textOf(lastUser(conversation))}": yes.` });
    ask(note.discussionId, 'First?');
    ask(note.discussionId, 'Second?');
    await noteOf(2);
    expect(
      notes()
        .slice(1)
        .map(({ body }) => body)
        .toSorted(),
    ).toEqual([expect.stringContaining('To "First?": yes.'), expect.stringContaining('To "Second?": yes.')]);
    const last = scene.model.conversations().at(-1)?.map(textOf).join('\n');
    expect(last).toContain('First?');
    expect(last).toContain('Second?');
  });

  test('a reply whose answer could not be posted gets its own answer later, not that to the next question', async () => {
    await arrange({ provider });
    failPipeline();
    const note = await noteOf(0);
    scene.model.script = (conversation) => ({ text: `To "${textOf(lastUser(conversation))}": yes.` });
    const outage = scene.gitlab.fail({
      match: { method: 'POST', path: '/discussions/' },
      with: { status: 503 },
    });
    ask(note.discussionId, 'First?');
    const failed = () => scene.logged.filter(({ msg, kind }) => msg === 'job failed' && kind === 'reply');
    await expect.poll(failed, { timeout: 20_000 }).not.toEqual([]);
    ask(note.discussionId, 'Second?');
    outage.lift();
    await noteOf(2);
    const answers = notes()
      .slice(1)
      .map(({ body }) => body.split('\n')[0]);
    expect(answers.toSorted()).toEqual(['To "First?": yes.', 'To "Second?": yes.']);
  });

  test('a call by name without an analysis is answered, and nothing is said of an earlier conversation', async () => {
    await arrange({ provider });
    scene.model.script = () => ({ text: 'Nothing has failed yet.' });
    scene.gitlab.addNote({ ...scene.mr, userId: scene.nadia.id, body: '@hummingbird what failed?' });
    const note = await noteOf(0);
    expect(note.body).toMatch(/^Nothing has failed yet\./);
    expect(system(scene.model.conversations()[0])).not.toContain('follow-up to a previous conversation');
  });
});

test.each([
  ['anthropic', 'gemini'],
  ['gemini', 'anthropic'],
] as const)('a session saved with %s is resumed by %s', async (before, after) => {
  await arrange({ provider: before });
  const { jobId } = failPipeline();
  scene.model.script = investigate(jobId);
  const note = await noteOf(0);
  expect(note.body).toContain(`${before}/`);
  await scene.stop();
  scene.useProvider(after);
  await start();
  ask(note.discussionId, 'And now?');
  const answer = await noteOf(1);
  expect(answer.body).toContain(REPLY);
  expect(answer.body).toContain(`${after}/`);
  expect(lastRequest()).toContain('expected 10.00 to equal 10.01');
});

test('a short question may be answered by a cheaper model, a long one by the usual one', async () => {
  const cheap = await startModel(() => ({ text: 'Cheap and quick.' }));
  try {
    const side = [{ provider: 'gemini', model: MODELS.gemini, baseUrl: cheap.url, apiKeyEnv: 'MODEL_KEY' }];
    await arrange({ config: { models: { side, shortReplies: 'side' } } });
    failPipeline();
    const note = await noteOf(0);
    expect(note.body).toContain(`anthropic/${MODELS.anthropic}`);
    ask(note.discussionId, 'Which file?');
    const short = await noteOf(1);
    expect(short.body).toContain('Cheap and quick.');
    expect(short.body).toContain(`gemini/${MODELS.gemini}`);
    ask(note.discussionId, `Please compare ${'the pipelines of this branch, '.repeat(4)} and tell me more.`);
    expect((await noteOf(2)).body).toContain(`anthropic/${MODELS.anthropic}`);
  } finally {
    await cheap.stop();
  }
});

test('with a key for its marks, the agent knows its threads after the write token was changed', async () => {
  await arrangeStopped();
  Object.assign(scene.env, { HUMMINGBIRD_MARKER_KEY: 'a-key-of-its-own' });
  await start();
  const { jobId } = failPipeline();
  scene.model.script = investigate(jobId);
  const note = await noteOf(0);
  await scene.stop();
  const { gitlab, agent, env } = scene;
  env.GITLAB_WRITE_TOKEN = gitlab.addToken({ userId: agent.id, scopes: ['api'] });
  Object.assign(env, { HUMMINGBIRD_MARKER_KEY: 'a-newer-key a-key-of-its-own' });
  await start();
  ask(note.discussionId, 'And now?');
  expect((await noteOf(1)).body).toContain(REPLY);
  expect(lastRequest()).toContain('2001:AssertionError');
});

test('a workflow that is not for calls by name leaves them unanswered', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-workflows-'));
  writeFileSync(join(dir, 'quiet.md'), '---\non: [pipeline_failed]\n---\nFind the cause.\n');
  await arrange({ config: { workflows: { dir, onFailedPipeline: 'quiet' } } });
  scene.gitlab.addNote({ ...scene.mr, userId: scene.nadia.id, body: '@hummingbird what failed?' });
  await expect
    .poll(ended, { timeout: 20_000 })
    .toMatchObject([{ ending: 'nothing-to-do', reason: expect.stringContaining('quiet') }]);
  expect(notes()).toEqual([]);
  failPipeline();
  expect((await noteOf(0)).body).toContain(ANSWER);
});

test('a workflow that is not for failed pipelines can not be chosen for them', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-workflows-'));
  writeFileSync(join(dir, 'chat.md'), '---\non: [mention]\n---\nAnswer.\n');
  await arrangeStopped({ config: { workflows: { dir, onFailedPipeline: 'chat' } } });
  await expect(scene.start()).rejects.toThrow('workflow chat is not for failed pipelines');
});
