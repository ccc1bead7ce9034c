// An analysis by hand, as a process of its own.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { pglite } from '../services/backends.ts';
import type { ModelScript } from '../services/model.ts';
import { PROGRAM, startProgram } from '../services/program.ts';
import { findProgram } from '../services/server.ts';
import { ANSWER, createScene, oneToolWorkflow, type Scene } from './scene.ts';

/** Gives a program a terminal; a Mac's takes other arguments. */
const hasScript = findProgram('script') !== null && process.platform === 'linux';
const withoutScript = hasScript ? '' : " (skipped: Linux' program script is missing)";

const hummingbird = (args: string[], env?: Record<string, string>) => startProgram(args, env).ended;

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

  test('prints what it would post, not what the model said', async () => {
    scene = await createScene({ backend: await pglite.create() });
    scene.model.script = () => ({
      text: 'Ask @nadia at https://evil.test.\n/close\n\n![x](https://evil.test/x.png)',
    });
    const args = ['analyze', urlOf(scene), '-c', scene.file];
    const dry = await hummingbird(args, scene.env);
    expect(dry.stdout).toContain('Ask @\u200bnadia at https:\u200b//evil.test.\n&#47;close\n');
    await hummingbird([...args, '--post'], scene.env);
    const [note] = scene.gitlab.notes(scene.project.id, scene.mr.iid);
    expect(note?.body.replace(/<!-- hummingbird:.*-->$/, '').trim()).toBe(dry.stdout.trim());
  }, 60_000);

  test.skipIf(!hasScript)(
    `in a terminal the note is as it looks on the merge request${withoutScript}`,
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

  test('does not post while a service has the embedded database, and says what to do', async () => {
    scene = await createScene({ backend: await pglite.create() });
    await scene.start();
    const url = `${scene.gitlab.url}/${scene.project.path}/-/merge_requests/${scene.mr.iid}`;
    const { code, stderr } = await hummingbird(['analyze', url, '--post', '--config', scene.file], scene.env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/is in use by process \d+ .*Stop that process, .*Without --post/s);
    expect(scene.model.conversations()).toEqual([]);
    expect(scene.gitlab.notes(scene.project.id, scene.mr.iid)).toEqual([]);
  }, 60_000);

  test('keeps the limit of a run, whatever was spent before', async () => {
    scene = await createScene({
      backend: await pglite.create(),
      config: {
        ...oneToolWorkflow(),
        projects: { 'shop/**': { usdPerRun: 0.5, usdPerMr: 0.01, usdPerDay: 0.01 } },
      },
    });
    const url = `${scene.gitlab.url}/${scene.project.path}/-/merge_requests/${scene.mr.iid}`;
    scene.model.script = () => ({
      text: 'Let me see.',
      calls: [{ name: 'gitlab_get_mr_details' }],
      inputTokens: 100_000,
    });
    const { code, stdout } = await hummingbird(['analyze', url, '--config', scene.file], scene.env);
    expect(stdout).toMatch(/used up its money.*the limit of &#36;\u200b0\.50 for a run/);
    expect(stdout).toContain('Let me see.');
    expect(code).toBe(1);
  }, 60_000);

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

  test('says that it was answered before, and asks again when told to', async () => {
    scene = await createScene({ backend: await pglite.create() });
    const args = ['analyze', urlOf(scene), '-c', scene.file];
    const first = await hummingbird(args, scene.env);
    expect(first.stderr).not.toContain('answered before');
    const asked = scene.model.conversations().length;
    scene.model.script = () => ({ text: 'On second thought.' });
    const second = await hummingbird(args, scene.env);
    expect(second).toMatchObject({ code: 0, stdout: first.stdout });
    expect(second.stderr).toContain('answered before; --fresh asks again');
    expect(scene.model.conversations()).toHaveLength(asked);

    const fresh = await hummingbird([...args, '--fresh'], scene.env);
    expect(fresh).toMatchObject({ code: 0, stdout: expect.stringContaining('On second thought.') });
    expect(fresh.stderr).not.toContain('answered before');
    expect(scene.model.conversations().length).toBeGreaterThan(asked);
    const [kept = '', old = ''] = readdirSync(join(scene.folder, 'sessions')).toSorted();
    expect(old).toMatch(new RegExp(`^${kept}\\.\\d+\\.old$`));
    const saved = readFileSync(join(scene.folder, 'sessions', old, 'context.json'), 'utf8');
    expect(saved).toContain(ANSWER);
  }, 60_000);

  test('asks the model it is told to, and no other, whatever the workflow says', async () => {
    const workflows = mkdtempSync(join(tmpdir(), 'hummingbird-workflows-'));
    const workflow = '---\non: [pipeline_failed]\nmodel: gemini-3.8-flash\n---\nFind out why.\n';
    writeFileSync(join(workflows, 'analyze-failures.md'), workflow);
    scene = await createScene({
      backend: await pglite.create(),
      config: { workflows: { dir: workflows } },
      before: { provider: 'gemini', baseUrl: 'http://127.0.0.1:9' },
    });
    const args = ['analyze', urlOf(scene), '-c', scene.file, '--model'];
    const one = await hummingbird([...args, 'claude-sonnet-5-5'], scene.env);
    expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('anthropic/claude-sonnet-5-5') });
    const none = await hummingbird([...args, 'claude'], scene.env);
    expect(none).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there are gemini-3.8-flash, claude-sonnet-5-5, and file:DIR'),
    });
    const { MODEL_KEY: _key, ...env } = scene.env;
    expect(await hummingbird([...args, 'claude-sonnet-5-5'], env)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('MODEL_KEY is not set'),
    });
  }, 60_000);
});

describe('analyze, recorded', () => {
  let scene: Scene;
  afterEach(() => scene.close());

  test('is replayed to the same note without vendor and key, until GitLab says something else', async () => {
    scene = await createScene({ backend: await pglite.create() });
    const jobs = failPipeline(scene);
    scene.model.script = investigate(jobs);
    const dir = join(scene.folder, 'recording');
    const args = ['analyze', urlOf(scene), '-c', scene.file];
    // An earlier answer does not get in the way.
    await hummingbird(args, scene.env);
    const recorded = await hummingbird([...args, '--record', dir], scene.env);
    expect(recorded).toMatchObject({ code: 0, stdout: expect.stringContaining(ANSWER) });
    const files = readdirSync(dir).toSorted();
    expect(files).toEqual(['0001.json', '0002.json', '0003.json', 'recording.json']);
    const written = files.map((name) => readFileSync(join(dir, name), 'utf8')).join('\n');
    expect(written).toContain('AssertionError: 1 is not 2');
    for (const secret of [scene.env.MODEL_KEY, scene.env.GITLAB_READ_TOKEN])
      expect(written).not.toContain(secret);

    await scene.model.stop();
    const { MODEL_KEY: _key, GITLAB_WRITE_TOKEN: _token, ...offline } = scene.env;
    const TMPDIR = join(scene.folder, 'tmp');
    mkdirSync(TMPDIR);
    const sessions = readdirSync(join(scene.folder, 'sessions'), { recursive: true });
    const replayed = await hummingbird([...args, '--replay', dir], { ...offline, TMPDIR });
    expect(replayed).toMatchObject({ code: 0, stdout: recorded.stdout });
    expect(readdirSync(join(scene.folder, 'sessions'), { recursive: true })).toEqual(sessions);
    expect(readdirSync(TMPDIR)).toEqual([]);

    scene.gitlab.setTrace(jobs[1] ?? 0, 'AssertionError: 1 is not 3\n');
    const changed = await hummingbird([...args, '--replay', dir], { ...offline, TMPDIR });
    expect(changed).toMatchObject({ code: 1, stdout: '' });
    expect(changed.stderr).toMatch(
      /hummingbird: .*call 3 differs at messages\[4\]\.content, character \d+: recorded .*not 2.*, now .*not 3/,
    );
    expect(readdirSync(TMPDIR)).toEqual([]);
  }, 120_000);

  test('goes only where nothing is, and posts nothing that was replayed', async () => {
    scene = await createScene({ backend: await pglite.create() });
    const args = ['analyze', urlOf(scene), '-c', scene.file];
    expect(await hummingbird([...args, '--record', scene.folder], scene.env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${scene.folder} is not empty`),
    });
    expect(scene.model.conversations()).toEqual([]);
    expect(await hummingbird([...args, '--replay', scene.folder, '--post'], scene.env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'--replay <dir>' cannot be used with option '--post'"),
    });
  }, 60_000);
});

describe('analyze with a model that is played through files', () => {
  let scene: Scene;
  afterEach(() => scene.close());

  test('needs neither vendor nor key, and can be interrupted', async () => {
    scene = await createScene({ backend: await pglite.create() });
    const { MODEL_KEY: _key, ...env } = scene.env;
    const play = join(scene.folder, 'play');
    const args = ['analyze', urlOf(scene), '-c', scene.file, '--model', `file:${play}`];
    const run = startProgram(args, env);
    await run.tells(`waiting for ${play}/0001.response.json`);
    const request = JSON.parse(readFileSync(join(play, '0001.request.json'), 'utf8'));
    expect(request.messages[0].content).toContain(scene.sha());
    writeFileSync(join(play, '0001.response.json'), '{"call":[]}');
    await run.tells('Unrecognized key: "call"');
    writeFileSync(join(play, '0001.response.json'), '{"calls":[{"name":"gitlab_get_mr_details"}]}');
    await run.tells(`waiting for ${play}/0002.response.json`);
    run.pressCtrlC();
    expect(await run.ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('interrupted; the session is kept'),
    });
    expect(run.isGone()).toBe(true);

    mkdirSync(`${play}-2`);
    writeFileSync(join(`${play}-2`, '0001.response.json'), JSON.stringify({ text: ANSWER }));
    const next = await hummingbird([...args.slice(0, -1), `file:${play}-2`], env);
    expect(next).toMatchObject({ code: 0, stdout: expect.stringContaining(ANSWER) });
    const resumed = readFileSync(join(`${play}-2`, '0001.request.json'), 'utf8');
    expect(resumed).toContain('Round prices half up');
  }, 60_000);
});

function urlOf({ gitlab, project, mr }: Scene): string {
  return `${gitlab.url}/${project.path}/-/merge_requests/${mr.iid}`;
}

function failPipeline({ gitlab, mr }: Scene): number[] {
  const names = ['unit tests', 'lint', 'smoke'];
  const pipeline = gitlab.addPipeline({ mergeRequest: mr, jobs: names.map((name) => ({ name })) });
  return gitlab.jobs(pipeline.id).map(({ id }) => {
    gitlab.setTrace(id, 'AssertionError: 1 is not 2\n');
    gitlab.setJobStatus(id, 'failed', { failureReason: 'script_failure' });
    return id;
  });
}

/** Fetches all logs at once and looks at them, and at the clock; a run at another time sees another one. */
function investigate(jobIds: number[]): ModelScript {
  const requests = jobIds.map((id) => ({ tool: 'gitlab_get_job_log', args: { job_id: id } }));
  const command = 'date; jq -n now; ls -l /tmp/data; grep -rn Assertion /tmp/data';
  return (conversation) => {
    const results = conversation.filter(({ role }) => role === 'tool').length;
    if (results === 0) return { calls: [{ name: 'gitlab_list_jobs', arguments: {} }] };
    if (results === 1)
      return {
        text: 'Let me see.',
        calls: [
          { name: 'fetch_batch_to_sandbox', arguments: { requests } },
          { name: 'sandbox_exec', arguments: { command } },
        ],
      };
    return { text: ANSWER };
  };
}
