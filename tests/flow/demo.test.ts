// The demo as a person starts it, as a process of its own.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { QUESTION } from '../../src/demo/story/scene.ts';
import { type ModelScript, startModel, textOf } from '../services/model.ts';
import { startWire } from '../services/model-wire.ts';
import { startProgram } from '../services/program.ts';

const hummingbird = (args: string[], env?: Record<string, string>) => startProgram(args, env).ended;

describe('demo', () => {
  test('tells the whole story, ends well and leaves nothing behind', async () => {
    const demo = startProgram(['demo', '--fast']);
    const { code, stdout, stderr } = await demo.ended;
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const chapters = [
      'Pipeline Hook → 202 {"status":"queued"',
      'calls    gitlab_get_mr_details',
      'calls    fetch_batch_to_sandbox',
      'calls    konflux_list_pipelineruns',
      'calls    konflux_get_pipelinerun',
      'calls    fetch_to_sandbox',
      'A note is on the merge request',
      'Verdict: caused by this merge request',
      '2 of 2 quotes verified',
      'Mira Okafor replies in the thread',
      'Note Hook → 202 {"status":"queued"',
      'The answer is in the thread',
      'No, it is another problem',
      '1 of 1 quote verified',
      'To run it on your own GitLab',
    ];
    const places = chapters.map((chapter) => stdout.indexOf(chapter));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    // The notes as they look on the merge request, without colours where there is no terminal.
    for (const mark of ['**', '```', '<sub>', '<!--', '\x1b']) expect(stdout).not.toContain(mark);
    expect(readdirSync(demo.folder)).toEqual([]);
    expect(demo.isGone()).toBe(true);
  }, 60_000);

  test.each([
    ['Ctrl-C', 'pressCtrlC', 130],
    ['SIGTERM', 'terminate', 143],
  ] as const)(
    '%s in the middle of it ends everything',
    async (_name, interrupt, expected) => {
      const demo = startProgram(['demo', '--fast']);
      await demo.shows('calls    fetch_batch_to_sandbox');
      demo[interrupt]();
      const { code, stdout, stderr } = await demo.ended;
      expect({ code, stderr }).toEqual({ code: expected, stderr: '' });
      expect(stdout).toMatch(/\nInterrupted\.\n$/);
      expect(readdirSync(demo.folder)).toEqual([]);
      expect(demo.isGone()).toBe(true);
    },
    60_000,
  );

  test('--keep stays up after the story and says how to end it', async () => {
    const demo = startProgram(['demo', '--fast', '--keep']);
    await demo.shows('Ctrl-C ends it.');
    const [, gitlab, service] =
      /Still running: GitLab (\S+), service (\S+)\. Ctrl-C ends it\./.exec(demo.printed()) ?? [];
    const health = await fetch(`${service}/health/ready`);
    expect({ status: health.status, body: await health.json() }).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
    const pretend = await fetch(`${gitlab}/api/v4/version`);
    expect({ status: pretend.status, body: await pretend.json() }).toEqual({
      status: 401,
      body: { message: '401 Unauthorized' },
    });
    demo.pressCtrlC();
    expect(await demo.ended).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(demo.folder)).toEqual([]);
    expect(demo.isGone()).toBe(true);
  }, 60_000);
});

describe('demo with a key', () => {
  const KEY = 'key-0f-the-vend0r';
  const openModel = async (script: ModelScript) => {
    const model = await startModel(script);
    onTestFinished(() => model.stop());
    return model;
  };

  const vendors = [
    ['anthropic', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'],
    ['gemini', 'GEMINI_API_KEY', 'GOOGLE_GEMINI_BASE_URL'],
  ] as const;

  test.each(vendors)(
    'uses %s, wherever it is',
    async (provider, keyName, urlName) => {
      const model = await openModel(answerInTwoTurns);
      const { code, stdout, stderr } = await hummingbird(['demo', '--fast'], {
        [keyName]: KEY,
        [urlName]: model.url,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(
        new RegExp(`model +${provider}/\\S+ at ${model.url}, with the key in ${keyName}`),
      );
      expect(stdout).toMatch(/A note is on the merge request[^▶]*The real model says: rounding\./);
      expect(stdout).toMatch(/The answer is in the thread[^▶]*The real model says: no\./);
      expect(stdout).not.toContain(KEY);
      const results = model
        .conversations()
        .flatMap((messages) => messages.filter(({ role }) => role === 'tool'));
      expect(results.map(textOf).join('\n')).toContain('Round totals half-even in invoices');
      expect(model.conversations()).toHaveLength(4);
    },
    60_000,
  );

  test('does not wait for a silent model when it is interrupted', async () => {
    const wire = await startWire();
    onTestFinished(() => wire.close());
    wire.reply(() => undefined);
    const demo = startProgram(['demo', '--fast'], { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: wire.url });
    await expect.poll(() => wire.sent, { timeout: 30_000 }).toHaveLength(1);
    const before = Date.now();
    demo.pressCtrlC();
    expect(await demo.ended).toMatchObject({ code: 130, stderr: '' });
    // A service would let the job go on for 20 s.
    expect(Date.now() - before).toBeLessThan(15_000);
  }, 60_000);

  test('that is refused ends at once and says why', async () => {
    const model = await openModel(() => ({ status: 401 }));
    const { code, stdout, stderr } = await hummingbird(['demo', '--fast'], {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: model.url,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^hummingbird: the analysis broke off \(model-error\): .*the vendor is in trouble.*\n$/,
    );
    expect(stdout).toMatch(/A note is on the merge request[^▶]*The model could not be used to the end/);
    expect(stdout).not.toContain('replies in the thread');
    expect(stdout + stderr).not.toContain(KEY);
  }, 60_000);

  test('posts an analysis that can not be saved, ends when the answer has ended without a note, and says why', async () => {
    const breakDisk: ModelScript = () => {
      const [demo = ''] = readdirSync(program.folder);
      const sessions = join(program.folder, demo, 'sessions');
      rmSync(sessions, { recursive: true, force: true });
      writeFileSync(sessions, 'a file where the sessions should be');
      return { text: 'It can not be saved.' };
    };
    const model = await openModel(breakDisk);
    const program = startProgram(['demo', '--fast'], {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: model.url,
    });
    const { code, stdout, stderr } = await program.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^hummingbird: the answer ended without a note \(failed\): .*sessions.*\n$/);
    expect(stdout).toMatch(/trouble +.*ENOTDIR/);
    expect(readdirSync(program.folder)).toEqual([]);
  }, 60_000);

  test('and an address that is none is an error of the environment', async () => {
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'localhost:4000' };
    const demo = startProgram(['demo', '--fast'], env);
    expect(await demo.ended).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('ANTHROPIC_BASE_URL: is not an http(s) URL'),
    });
    expect(readdirSync(demo.folder)).toEqual([]);
  });
});

/** Looks something up first, then answers; a question of a person likewise. */
const answerInTwoTurns: ModelScript = (conversation) => {
  const last = conversation.at(-1);
  if (last?.role !== 'tool') return { calls: [{ name: 'gitlab_get_mr_details' }] };
  const isReply = conversation.some((message) => message.role === 'user' && textOf(message) === QUESTION);
  return { text: `**The real model says:** ${isReply ? 'no' : 'rounding'}.` };
};
