import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatMessage } from '@copilotkit/aimock';
import { afterEach, describe, expect, test } from 'vitest';
import type { HookEvent } from '../../src/demo/gitlab/hook.ts';
import { pglite } from '../services/backends.ts';
import { type ModelScript, textOf } from '../services/model.ts';
import { createScene, type Scene, type SceneOptions, WEBHOOK_TOKEN } from './scene.ts';

const EVENTS: HookEvent[] = ['pipeline_events', 'merge_requests_events', 'note_events', 'emoji_events'];
const LOG = `${'ok - passing test\n'.repeat(2_000)}AssertionError: expected 10.00 to equal 10.01\n`;
const FINDING =
  '**The rounding change broke `invoice.test.ts`.**\n\n```\nAssertionError: expected 10.00 to equal 10.01\n```';
const REPLY = 'No, that one timed out before it got there.';

let scene: Scene;
afterEach(() => scene.close());

describe.each(['anthropic', 'gemini'] as const)('with %s', (provider) => {
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
});

test('a session saved with one provider is resumed by the other', async () => {
  await arrange({ provider: 'anthropic' });
  const { jobId } = failPipeline();
  scene.model.script = investigate(jobId);
  const note = await noteOf(0);
  await scene.stop();
  scene.useProvider('gemini');
  await start();
  ask(note.discussionId, 'And now?');
  const answer = await noteOf(1);
  expect(answer.body).toContain(REPLY);
  expect(answer.body).toContain('gemini/');
  expect(scene.model.conversations().at(-1)?.map(textOf).join('\n')).toContain(
    'expected 10.00 to equal 10.01',
  );
});

describe('one note', () => {
  test('however often GitLab tells of the failure', async () => {
    const hook = await arrange();
    failPipeline();
    await noteOf(0);
    await scene.gitlab.idle();
    for (const delivery of hook.deliveries.filter(({ responseBody }) => responseBody.includes('queued')))
      await scene.gitlab.redeliver(delivery.id);
    failPipeline();
    await expect.poll(() => ended().length, { timeout: 20_000 }).toBe(2);
    expect(notes()).toHaveLength(1);
  });

  test('even if GitLab takes it and the answer is lost', async () => {
    await arrange();
    scene.gitlab.fail({ match: { method: 'POST', path: /\/notes$/, times: 1 }, with: 'commit-then-drop' });
    failPipeline();
    await expect.poll(ended, { timeout: 20_000 }).toMatchObject([{ ending: 'answered' }]);
    expect(notes()).toHaveLength(1);
  });

  test('that a reply does not change, nor a further failure of the same commit', async () => {
    await arrange();
    failPipeline();
    const analysis = await noteOf(0);
    scene.model.script = () => ({ text: 'An answer to a question.' });
    ask(analysis.discussionId, 'Why?');
    await noteOf(1);
    failPipeline();
    await expect.poll(() => ended().length, { timeout: 20_000 }).toBe(3);
    expect(notes().map(({ body }) => body)).toEqual([
      analysis.body,
      expect.stringContaining('An answer to a question.'),
    ]);
  });

  test('that an ending without a word does not replace', async () => {
    await arrange();
    failPipeline();
    const analysis = await noteOf(0);
    scene.model.script = () => ({ status: 401 });
    scene.gitlab.pushCommit(scene.mr);
    failPipeline();
    await expect
      .poll(() => ended().map(({ ending }) => ending), { timeout: 20_000 })
      .toContain('model-error');
    expect(notes().map(({ body }) => body)).toEqual([analysis.body]);
    expect(scene.logged).toContainEqual(expect.objectContaining({ msg: 'the agent broke off', level: 50 }));
  });

  test('that is edited when a later commit fails for another reason', async () => {
    await arrange();
    failPipeline();
    const first = await noteOf(0);
    scene.model.script = () => ({ text: 'Now the build is broken.' });
    scene.gitlab.pushCommit(scene.mr);
    failPipeline();
    await expect.poll(() => notes()[0]?.body, { timeout: 20_000 }).toContain('Now the build is broken.');
    expect(notes().map(({ id }) => id)).toEqual([first.id]);
  });
});

test('two replies in quick succession are answered one after the other, in one conversation', async () => {
  await arrange();
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
  await arrange();
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
  await arrange();
  scene.model.script = () => ({ text: 'Nothing has failed yet.' });
  scene.gitlab.addNote({ ...scene.mr, userId: scene.nadia.id, body: '@hummingbird what failed?' });
  const note = await noteOf(0);
  expect(note.body).toMatch(/^Nothing has failed yet\./);
  expect(system(scene.model.conversations()[0])).not.toContain('follow-up to a previous conversation');
});

describe('in trouble', () => {
  test('a tool that fails is told to the model, and the note names the gap', async () => {
    await arrange();
    const { jobId } = failPipeline();
    scene.gitlab.fail({ match: { path: `/jobs/${jobId}/trace` }, with: { status: 500 } });
    scene.model.script = (conversation) => {
      const results = conversation.filter(({ role }) => role === 'tool').map(textOf);
      if (results.length === 0)
        return { calls: [{ name: 'gitlab_get_job_log', arguments: { job_id: jobId } }] };
      return { text: `Not available: ${results.at(-1)?.includes('error') ? 'the job log' : 'nothing'}.` };
    };
    expect((await noteOf(0)).body).toContain('Not available: the job log.');
  }, 60_000);

  test('a model that is away for a while is waited for, in silence', async () => {
    await arrange();
    scene.model.script = () => ({ status: 500 });
    failPipeline();
    await expect
      .poll(() => scene.logged.filter(({ msg }) => msg === 'job failed'), { timeout: 40_000 })
      .not.toEqual([]);
    expect(notes()).toEqual([]);
    scene.model.script = () => ({ text: 'Back again.' });
    expect((await noteOf(0)).body).toContain('Back again.');
  }, 120_000);

  test('a model that is away for good ends in a note that says so, and the session is kept', async () => {
    await arrange({ config: { queue: { attempts: 1 } } });
    scene.model.script = () => ({ status: 500 });
    failPipeline();
    const note = await noteOf(0);
    expect(note.body).toMatch(/The model could not be used/);
    const [session = ''] = readdirSync(join(scene.folder, 'sessions'));
    const context = readFileSync(join(scene.folder, 'sessions', session, 'context.json'), 'utf8');
    expect(JSON.parse(context).messages).toMatchObject([{ role: 'user' }]);
  }, 120_000);

  test('a session that can not be read is set aside, and the reply starts afresh', async () => {
    await arrange();
    failPipeline();
    const note = await noteOf(0);
    const sessions = join(scene.folder, 'sessions');
    const [session = ''] = readdirSync(sessions);
    writeFileSync(join(sessions, session, 'context.json'), '{"version":99}');
    ask(note.discussionId, 'Why?');
    expect((await noteOf(1)).body).toContain('The earlier conversation is no longer available');
    const kept = readdirSync(sessions).find((name) => name.endsWith('.bad')) ?? '';
    expect(readFileSync(join(sessions, kept, 'context.json'), 'utf8')).toBe('{"version":99}');
  });

  test('a reply to a session that is gone starts afresh and says so', async () => {
    await arrange();
    failPipeline();
    const note = await noteOf(0);
    await scene.stop();
    scene.forgetSessions();
    await start();
    ask(note.discussionId, 'Why?');
    expect((await noteOf(1)).body).toContain('The earlier conversation is no longer available');
  });
});

async function arrange(options: Partial<SceneOptions> = {}) {
  scene = await createScene({ backend: await pglite.create(), ...options });
  return start();
}

async function start() {
  const service = await scene.start();
  const url = `${service.url}/webhooks/gitlab`;
  return scene.gitlab.addHook({ projectId: scene.project.id, url, token: WEBHOOK_TOKEN, events: EVENTS });
}

function failPipeline(): { jobId: number } {
  const { gitlab, mr } = scene;
  const pipeline = gitlab.addPipeline({ mergeRequest: mr, jobs: [{ name: 'unit tests' }] });
  const jobId = gitlab.jobs(pipeline.id)[0]?.id ?? 0;
  gitlab.setTrace(jobId, LOG);
  gitlab.setJobStatus(jobId, 'failed', { failureReason: 'script_failure' });
  return { jobId };
}

function ask(discussionId: string, body: string) {
  return scene.gitlab.addNote({ ...scene.mr, userId: scene.nadia.id, body, discussionId });
}

const notes = () =>
  scene.gitlab.notes(scene.project.id, scene.mr.iid).filter(({ authorId }) => authorId === scene.agent.id);
const ended = () => scene.logged.filter(({ msg }) => msg === 'job ended');

async function noteOf(index: number) {
  await expect.poll(() => notes()[index], { timeout: 40_000 }).toBeDefined();
  const note = notes()[index];
  if (!note) throw new Error('no note');
  return note;
}

const lastUser = (conversation: ChatMessage[] = []) =>
  conversation.findLast(({ role }) => role === 'user') ?? { role: 'user' as const, content: '' };
const system = (conversation: ChatMessage[] = []) =>
  conversation
    .filter(({ role }) => role === 'system')
    .map(textOf)
    .join('\n');

/** Fetches the log, looks into it, and says what it found; a question is answered from the same file. */
function investigate(jobId: number): ModelScript {
  const grep = { name: 'sandbox_exec', arguments: { command: 'grep -n AssertionError /tmp/data/unit.log' } };
  const fetch = {
    name: 'fetch_to_sandbox',
    arguments: { tool: 'gitlab_get_job_log', args: { job_id: jobId }, path: '/tmp/data/unit.log' },
  };
  return (conversation) => {
    const asked = conversation.findLastIndex(({ role }) => role === 'user');
    const isReply = conversation.filter(({ role }) => role === 'user').length > 1;
    const results = conversation.slice(asked).filter(({ role }) => role === 'tool').length;
    if (isReply) return results === 0 ? { calls: [grep] } : { text: REPLY };
    if (results === 0) return { text: 'Let me see.', calls: [{ name: 'gitlab_get_mr_details' }, fetch] };
    return results === 2 ? { calls: [grep] } : { text: FINDING };
  };
}
