// The commands a person runs by hand, as processes of their own.
import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { QUESTION } from '../../src/demo/story/scene.ts';
import { pglite } from '../services/backends.ts';
import { type ModelScript, startModel, textOf } from '../services/model.ts';
import { PROGRAM, startProgram } from '../services/program.ts';
import { ANSWER, createScene, type Scene } from './scene.ts';

/** It gives a command a terminal; that of BSD takes other arguments. */
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');

const hummingbird = (args: string[], env?: Record<string, string>) => startProgram(args, env).ended;

describe('demo', () => {
  test('tells the whole story and ends well', async () => {
    const { code, stdout, stderr } = await hummingbird(['demo', '--fast']);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const chapters = [
      'Pipeline Hook → 202 {"status":"queued"',
      'calls    gitlab_get_mr_details',
      'calls    fetch_batch_to_sandbox',
      'A note is on the merge request',
      'Verdict: caused by this merge request',
      'Mira Okafor replies in the thread',
      'Note Hook → 202 {"status":"queued"',
      'The answer is in the thread',
      'No, it is another problem',
      'To run it on your own GitLab',
    ];
    const places = chapters.map((chapter) => stdout.indexOf(chapter));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    // The notes as they look on the merge request, without colours where there is no terminal.
    for (const mark of ['**', '```', '<sub>', '<!--', '\x1b']) expect(stdout).not.toContain(mark);
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
});

/** Looks something up first, then answers; a question of a person likewise. */
const answerInTwoTurns: ModelScript = (conversation) => {
  const last = conversation.at(-1);
  if (last?.role !== 'tool') return { calls: [{ name: 'gitlab_get_mr_details' }] };
  const isReply = conversation.some((message) => message.role === 'user' && textOf(message) === QUESTION);
  return { text: `**The real model says:** ${isReply ? 'no' : 'rounding'}.` };
};

describe('analyze', () => {
  let scene: Scene;
  afterEach(() => scene.close());

  test('prints the note and posts nothing, or posts it when told to', async () => {
    scene = await createScene({ backend: await pglite.create() });
    const url = `${scene.gitlab.url}/${scene.project.path}/-/merge_requests/${scene.mr.iid}`;
    const dry = await hummingbird(['analyze', url, '--config', scene.file], scene.env);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining(ANSWER) });
    expect(dry.stderr).toContain('nothing was posted');
    expect(scene.gitlab.notes(scene.project.id, scene.mr.iid)).toEqual([]);

    const posted = await hummingbird(['analyze', url, '--post', '--config', scene.file], scene.env);
    expect(posted.code).toBe(0);
    expect(scene.gitlab.notes(scene.project.id, scene.mr.iid)).toMatchObject([
      { authorId: scene.agent.id, body: expect.stringContaining(ANSWER) },
    ]);
  }, 60_000);

  test.skipIf(!hasScript)(
    'in a terminal the note is as it looks on the merge request',
    async () => {
      scene = await createScene({ backend: await pglite.create() });
      scene.model.script = () => ({ text: '**Root cause:** `round()`' });
      const url = `${scene.gitlab.url}/${scene.project.path}/-/merge_requests/${scene.mr.iid}`;
      const command = `${PROGRAM} analyze ${url} --config ${scene.file}`;
      const inTerminal = (env: Record<string, string>) =>
        startProgram(['-qefc', command, '/dev/null'], { ...scene.env, ...env }, 'script').ended;

      const colourful = await inTerminal({ TERM: 'xterm-256color' });
      expect(colourful).toMatchObject({ code: 0 });
      expect(colourful.stdout).toContain('\x1b[1mRoot cause:\x1b[22m \x1b[36mround()\x1b[39m');
      const plain = await inTerminal({ TERM: 'xterm-256color', NO_COLOR: '1' });
      expect(plain.stdout).toContain('Root cause: `round()`\r\n');
      expect(plain.stdout).not.toContain('\x1b');
      const piped = await hummingbird(['analyze', url, '--config', scene.file], scene.env);
      expect(piped.stdout).toContain('**Root cause:** `round()`\n');
    },
    60_000,
  );

  test('needs no write token to look, and says what is wrong with an address', async () => {
    scene = await createScene({ backend: await pglite.create() });
    const { GITLAB_WRITE_TOKEN: _token, ...env } = scene.env;
    const url = `${scene.gitlab.url}/${scene.project.path}/-/merge_requests/${scene.mr.iid}`;
    expect((await hummingbird(['analyze', url, '--config', scene.file], env)).code).toBe(0);
    const elsewhere = await hummingbird(
      ['analyze', 'https://example.com/a/b/-/merge_requests/1', '-c', scene.file],
      env,
    );
    expect(elsewhere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not the configured GitLab'),
    });
    const missing = await hummingbird(['analyze', url.replace(/\d+$/, '99'), '-c', scene.file], env);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('404') });
  }, 60_000);
});
