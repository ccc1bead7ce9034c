import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { createGitlabSource } from '../../../src/sources/gitlab/source.ts';
import { createToolbox } from '../../services/redactor.ts';
import { answerJson, createClient, createFakeClock, startServer } from '../gitlab/gitlab-server.ts';
import { call } from '../tools/calling.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';
import { createSourceScene } from './gitlab-scene.ts';

const CALLS: [string, Record<string, unknown>][] = [
  ['gitlab_get_mr_details', {}],
  ['gitlab_list_commits', {}],
  ['gitlab_get_mr_diff', {}],
  ['gitlab_list_discussions', {}],
  ['gitlab_list_pipelines', {}],
  ['gitlab_get_pipeline', { pipeline_id: 1 }],
  ['gitlab_list_jobs', { pipeline_id: 1 }],
  ['gitlab_get_job_log', { job_id: 1 }],
  ['gitlab_get_last_passing_job', { job_id: 1 }],
  ['gitlab_get_job_history', { job_id: 1 }],
  ['gitlab_get_test_report', { pipeline_id: 1 }],
  ['gitlab_list_artifacts', { job_id: 1 }],
  ['gitlab_get_artifact_file', { job_id: 1, path: 'report.txt' }],
  ['gitlab_get_junit_report', { job_id: 1 }],
  ['gitlab_list_commit_statuses', {}],
  ['gitlab_get_ci_config', { ref: 'main' }],
  ['gitlab_get_file', { path: 'README.md', ref: 'main' }],
  ['gitlab_list_directory', { ref: 'main' }],
  ['gitlab_get_blame', { path: 'README.md', first_line: 1, last_line: 2, ref: 'main' }],
  ['gitlab_search_code', { query: 'main' }],
  ['gitlab_compare_refs', { from: 'main', to: 'topic' }],
];

/** Whose answers are whatever bytes come. */
const RAW = ['gitlab_get_job_log', 'gitlab_get_artifact_file', 'gitlab_get_file'];

test('there is a test of failure for every tool', async () => {
  const { source } = await createSourceScene();

  expect(CALLS.map(([name]) => name)).toEqual(source.tools.map(({ name }) => name));
});

test("another project's job and pipeline are not there, even if the token may read them", async () => {
  const scene = await createSourceScene();
  const other = scene.gitlab.addProject({
    path: 'group/other',
    members: [{ userId: scene.bot.id, accessLevel: 30 }],
  });
  const pipeline = scene.gitlab.addPipeline({
    projectId: other.id,
    jobs: [{ name: 'unit', trace: 'secret' }],
  });
  const [job] = scene.gitlab.jobs(pipeline.id);

  const log = await scene.call('gitlab_get_job_log', { job_id: job?.id });
  const jobs = await scene.call('gitlab_list_jobs', { pipeline_id: pipeline.id });

  expect(log).toEqual({
    isError: true,
    result: { error: expect.stringMatching(/^gitlab_get_job_log: .* 404, .*check its ids/) },
  });
  expect(jobs).toEqual({
    isError: true,
    result: { error: expect.stringMatching(/^gitlab_list_jobs: .* 404, /) },
  });
});

test('no tool takes a project or another merge request', async () => {
  const scene = await createSourceScene();

  for (const [name, args] of CALLS) {
    for (const foreign of [{ project: 'group/other' }, { project_id: 2 }, { iid: 2 }]) {
      const { result, isError } = await scene.call(name, { ...args, ...foreign });
      expect(isError).toBe(true);
      expect(result.error).toContain('wrong arguments');
    }
  }
  expect(scene.gitlab.requests).toEqual([]);
});

test.each(['main', '../../../users', 'abc', 'x'.repeat(40)])('%j is not taken for a commit', async (sha) => {
  const scene = await createSourceScene();

  expect(await scene.call('gitlab_list_commit_statuses', { sha })).toMatchObject({ isError: true });
  expect(scene.gitlab.requests).toEqual([]);
});

// All at once: each one takes its time.
test('a GitLab that falls silent is given up, whatever was asked', async () => {
  const { url } = await startServer(() => undefined);
  const source = createGitlabSource(createClient(url, { timeoutMs: 100 }), {
    projectId: 1,
    mrIid: 1,
    sha: 'a'.repeat(40),
  });
  const toolbox = createToolbox({ sandbox: createMemorySandbox(), sources: [source] });

  const answers = await Promise.all(CALLS.map(([name, args]) => call(toolbox, name, args)));

  for (const [index, { result }] of answers.entries()) {
    expect(result.error).toMatch(new RegExp(`^${CALLS[index]?.[0]}: GET .* got no answer in time`));
  }
});

describe.each(CALLS)('%s', (name, args) => {
  test('with a token that lacks the scope names it', async () => {
    const scene = await createSourceScene({ scopes: ['read_user'] });

    const { result, isError } = await scene.call(name, args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(
      new RegExp(`^${name}: GET .* 403, the token lacks a scope .*the same call will fail`),
    );
  });

  test('with GitLab down says so and what to do', async () => {
    const scene = await createSourceScene();
    scene.gitlab.fail({ with: { status: 502 } });

    const { result, isError } = await scene.call(name, args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(new RegExp(`^${name}: GET .* was answered 502 .*name the gap`));
  });

  test('waits as long as a busy GitLab asks, and then answers', async () => {
    const clock = createFakeClock();
    const { url } = await startServer((_, response) =>
      response.writeHead(429, { 'retry-after': '7' }).end('Retry later'),
    );
    const source = createGitlabSource(createClient(url, { clock }), {
      projectId: 1,
      mrIid: 1,
      sha: 'a'.repeat(40),
    });
    const toolbox = createToolbox({ sandbox: createMemorySandbox(), sources: [source] });

    const { result } = await call(toolbox, name, args);

    expect(result.error).toMatch(new RegExp(`^${name}: GET .* was answered 429`));
    expect(Math.max(...clock.slept)).toBeGreaterThanOrEqual(7_000);
  });

  test('with a token that is not known says so', async () => {
    const { url } = await startServer((_, response) =>
      answerJson(response, { message: '401 Unauthorized' }, { status: 401 }),
    );

    const { result } = await call(createToolboxAt(url), name, args);

    expect(result.error).toMatch(new RegExp(`^${name}: .* 401, the token is invalid, expired or revoked`));
  });

  test('that ends in the middle of an answer is an error', async () => {
    const { url } = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('[{"id": 1');
      setImmediate(() => response.destroy());
    });

    const { result, isError } = await call(createToolboxAt(url), name, args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(new RegExp(`^${name}: GET .* got no whole answer`));
  });

  test('that is answered with a web page is an error', async () => {
    const { url } = await startServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
    );

    const { result, isError } = await call(createToolboxAt(url), name, args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(new RegExp(`^${name}: GET .* with a web page`));
  });

  test('with nobody at the address says so', async () => {
    const scene = await createSourceScene();
    await scene.gitlab.close();

    const { result } = await scene.call(name, args);

    expect(result.error).toMatch(new RegExp(`^${name}: .* could not reach GitLab \\(ECONNREFUSED\\)`));
  });

  test('is ended by an abort, with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('a newer commit was pushed');
    const arrived = Promise.withResolvers<void>();
    const { url } = await startServer(() => arrived.resolve());
    const toolbox = createToolboxAt(url);

    const running = call(toolbox, name, args, controller.signal);
    await arrived.promise;
    controller.abort(reason);

    await expect(running).rejects.toBe(reason);
  });

  test('does not believe an answer of a form it does not know', async () => {
    const { url } = await startServer((_, response) =>
      answerJson(response, [{ surprise: true }], { status: 200 }),
    );
    const toolbox = createToolboxAt(url);

    const { result, isError } = await call(toolbox, name, args);

    if (RAW.includes(name)) expect(result).toEqual({ result: '[{"surprise":true}]' });
    else expect(result.error).toMatch(/^gitlab_\w+: GitLab's answer about .* has an unknown form/);
    expect(isError).toBe(!RAW.includes(name));
  });
});

test('an abort in the middle of a log ends it on the wire too, and leaves no file', async () => {
  const controller = new AbortController();
  const reason = new Error('shutting down');
  const closed = Promise.withResolvers<void>();
  const { url } = await startServer((_, response) => {
    response.once('close', closed.resolve);
    response.write('a beginning');
  });
  const sandbox = createMemorySandbox();
  const writing = Promise.withResolvers<void>();
  const watched: Sandbox = {
    ...sandbox,
    writeFile(path, content) {
      writing.resolve();
      return sandbox.writeFile(path, content);
    },
  };

  const request = { tool: 'gitlab_get_job_log', args: { job_id: 1 } };
  const running = call(createToolboxAt(url, watched), 'fetch_to_sandbox', request, controller.signal);
  await writing.promise;
  controller.abort(reason);

  await expect(running).rejects.toBe(reason);
  await closed.promise;
  expect(sandbox.files.size).toBe(0);
});

function createToolboxAt(url: string, sandbox: Sandbox = createMemorySandbox()) {
  const source = createGitlabSource(createClient(url), { projectId: 1, mrIid: 1, sha: 'a'.repeat(40) });
  return createToolbox({ sandbox, sources: [source] });
}
