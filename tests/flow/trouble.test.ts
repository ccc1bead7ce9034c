import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startModel, textOf } from '../services/model.ts';
import { startProgram } from '../services/program.ts';
import { MODELS } from './scene.ts';
import {
  arrange,
  ask,
  failPipeline,
  investigate,
  lastRequest,
  noteOf,
  notes,
  PROVIDERS,
  scene,
  start,
} from './story-scene.ts';

describe.each(PROVIDERS)('in trouble with %s', (provider) => {
  test('a tool that fails is told to the model, and the note names the gap', async () => {
    await arrange({ provider });
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

  test('a source that is down as a whole makes a note that names every gap', async () => {
    await arrange({ provider });
    const { jobId } = failPipeline();
    scene.model.script = (conversation) => {
      if (conversation.some(({ role }) => role === 'tool')) return { text: 'I could not find out why.' };
      scene.gitlab.fail({
        match: { method: 'GET', path: /\/(pipelines|jobs|statuses|diffs|commits)\b/ },
        with: { status: 503 },
      });
      return {
        calls: [
          { name: 'gitlab_list_pipelines' },
          { name: 'gitlab_list_commit_statuses' },
          {
            name: 'fetch_batch_to_sandbox',
            arguments: { requests: [{ tool: 'gitlab_get_job_log', args: { job_id: jobId } }] },
          },
        ],
      };
    };
    const { body } = await noteOf(0);
    expect(body).toContain('I could not find out why.');
    const [notice] = body.split('\n');
    expect(notice).toContain('Not everything could be read');
    expect(notice).toContain('`gitlab_list_pipelines`');
    expect(notice).toContain('`gitlab_list_commit_statuses`');
    expect(notice).toContain(`\`gitlab_get_job_log {"job_id":${jobId}}\``);
  }, 120_000);

  test('a model that fails in the middle is replaced by the next of the chain, which the note tells', async () => {
    const other = provider === 'anthropic' ? 'gemini' : 'anthropic';
    const failing = await startModel((conversation) =>
      conversation.some(({ role }) => role === 'tool')
        ? { status: 401 }
        : { text: 'Let me see.', calls: [{ name: 'gitlab_get_mr_details' }] },
    );
    try {
      await arrange({ provider: other, before: { provider, baseUrl: failing.url } });
      scene.model.script = () => ({ text: 'Found it.' });
      failPipeline();
      const { body } = await noteOf(0);
      expect(body).toContain('Found it.');
      expect(body).toContain(`· ${provider}/${MODELS[provider]} → ${other}/${MODELS[other]} ·`);
      expect(lastRequest()).toContain('Let me see.');
      expect(lastRequest()).toContain('Round prices half up');
    } finally {
      await failing.stop();
    }
  });

  test('a model that is away for a while is waited for, in silence', async () => {
    await arrange({ provider });
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
    await arrange({ provider, config: { queue: { attempts: 1 } } });
    scene.model.script = () => ({ status: 500 });
    failPipeline();
    const note = await noteOf(0);
    expect(note.body).toMatch(
      /This analysis could not be finished.* The model could not be used since \d{4}-\d\d-\d\d \d\d:\d\d UTC; it was tried once/,
    );
    const [, id = ''] = /`hummingbird jobs retry ([\w-]+)`/.exec(note.body) ?? [];
    await expect.poll(scene.eyes, { timeout: 20_000 }).toEqual([]);
    const [session = ''] = readdirSync(join(scene.folder, 'sessions'));
    const context = readFileSync(join(scene.folder, 'sessions', session, 'context.json'), 'utf8');
    expect(JSON.parse(context).messages).toMatchObject([{ role: 'user' }]);

    scene.model.script = () => ({ text: 'Back again.' });
    await scene.stop();
    expect(await jobs('list')).toMatch(new RegExp(`${id} +analyze +shop/checkout!1 +failed`));
    expect(await jobs('retry', id)).toBe(`${id} is tried again\n`);
    await start();
    await expect.poll(() => notes()[0]?.body, { timeout: 20_000 }).toMatch(/^Back again\./);
    expect(notes()).toHaveLength(1);
    expect(scene.eyes()).toHaveLength(1);
  }, 120_000);

  test('a session that can not be read is set aside, and the reply starts afresh', async () => {
    await arrange({ provider });
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

  test('an analysis of a session that can not be read starts afresh, and its note says so', async () => {
    await arrange({ provider });
    failPipeline();
    await noteOf(0);
    const sessions = join(scene.folder, 'sessions');
    const [session = ''] = readdirSync(sessions);
    writeFileSync(join(sessions, session, 'context.json'), '{"version":1,"messages":[');
    scene.model.script = () => ({ text: 'Found again.' });
    failPipeline();
    await expect.poll(() => notes()[0]?.body, { timeout: 40_000 }).toContain('Found again.');
    expect(notes()[0]?.body).toContain('The earlier conversation is no longer available');
    expect(notes()).toHaveLength(1);
  });

  test('a reply goes on with a conversation that was broken off in the middle of a call', async () => {
    await arrange({ provider });
    const { jobId } = failPipeline();
    scene.model.script = investigate(jobId);
    const note = await noteOf(0);
    const sessions = join(scene.folder, 'sessions');
    const [session = ''] = readdirSync(sessions);
    const file = join(sessions, session, 'context.json');
    const { messages } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ version: 1, messages: messages.slice(0, 3) }));
    rmSync(join(sessions, session, 'sandbox.tar.gz'));
    scene.model.script = () => ({ text: 'Going on.' });
    ask(note.discussionId, 'Why?');
    expect((await noteOf(1)).body).toContain('Going on.');
    expect(lastRequest()).toMatch(/fetch_to_sandbox: interrupted/);
    expect(lastRequest()).toContain('The files of this session are gone');
    expect(scene.logged.map(({ msg }) => msg)).toContain('conversation repaired');
  });

  test('a reply to a session that is gone starts afresh and says so', async () => {
    await arrange({ provider });
    failPipeline();
    const note = await noteOf(0);
    await scene.stop();
    scene.forgetSessions();
    await start();
    ask(note.discussionId, 'Why?');
    expect((await noteOf(1)).body).toContain('The earlier conversation is no longer available');
  });
});

/** What the command prints. */
async function jobs(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await startProgram(['jobs', ...args, '-c', scene.file], scene.env).ended;
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}
