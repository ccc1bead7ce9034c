// Every tool of Konflux and of Testing Farm, while what it asks is broken, lost, or not who it should be. GitLab's are
// in gitlab-gaps.test.ts.

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openKonfluxCluster } from '../../../src/sources/konflux/clusters.ts';
import { createKonfluxSource } from '../../../src/sources/konflux/source.ts';
import { openTestingFarm } from '../../../src/sources/testing-farm/connection.ts';
import { createTestingFarmSource } from '../../../src/sources/testing-farm/source.ts';
import { answerJson, createFakeClock, startServer } from '../gitlab/gitlab-server.ts';
import { asModel, GITLAB_URL, MR_IID, PROJECT, SHA } from './konflux-scene.ts';

const clock = createFakeClock;
type Clock = ReturnType<typeof createFakeClock>;

async function attachKonflux(url: string, clock: Clock) {
  const login = { kind: 'token' as const, url, token: 'very-secret' };
  const cluster = await openKonfluxCluster({
    name: 'prod',
    login,
    timeoutMs: 300,
    clock,
    learn: () => undefined,
  });
  onTestFinished(() => cluster.close());
  const scope = { project: PROJECT, gitlabUrl: GITLAB_URL, mrIid: MR_IID, sha: SHA };
  return asModel(createKonfluxSource([{ cluster, namespace: 'team' }], scope));
}

async function attachFarm(url: string, clock: Clock) {
  const options = { url, artifactsUrl: url, token: 'very-secret', timeoutMs: 300, clock };
  const farm = openTestingFarm(options);
  onTestFinished(() => farm.close());
  const scope = { sha: SHA, project: PROJECT, gitlabUrl: GITLAB_URL, testRepositories: [] };
  return asModel(createTestingFarmSource(farm, { ...scope, readStatuses: async () => [] }));
}

const REQUEST = { request_id: '7d6a6cbf-3cd5-49fb-aca1-f76ffa0734aa' };
const TOOLS = [
  ['konflux_list_pipelineruns', {}],
  ['konflux_get_pipelinerun', { pipelinerun: 'cart-1' }],
  ['konflux_list_taskruns', { pipelinerun: 'cart-1' }],
  ['konflux_list_test_results', { pipelinerun: 'cart-1' }],
  ['konflux_get_taskrun_log', { taskrun: 'cart-ec' }],
  ['konflux_get_pod_events', { taskrun: 'cart-ec' }],
  ['konflux_get_policy_report', { pipelinerun: 'cart-1' }],
  ['konflux_list_snapshots', {}],
  ['konflux_list_integration_tests', {}],
  ['konflux_list_releases', { snapshot: 'shop-1' }],
  ['testing_farm_get_request', REQUEST],
  ['testing_farm_list_results', REQUEST],
  ['testing_farm_get_log', REQUEST],
] as const;

const attach = (tool: string, url: string, clock = createFakeClock()) =>
  (tool.startsWith('konflux_') ? attachKonflux : attachFarm)(url, clock);

test('there is a call for every tool', async () => {
  const both = await Promise.all([
    attachKonflux('http://127.0.0.1', clock()),
    attachFarm('http://127.0.0.1', clock()),
  ]);
  const own = both.flatMap(({ toolbox }) => toolbox.definitions.map(({ name }) => name));

  expect(TOOLS.map(([name]) => name)).toEqual(own.filter((name) => /^(?:konflux|testing_farm)_/.test(name)));
});

const JSON_TYPE = { 'content-type': 'application/json' };

const FAULTS: { what: string; answer: (response: ServerResponse) => unknown; words: RegExp }[] = [
  {
    what: 'half an answer',
    answer(response) {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': '1000' }).write('{"items":[{"met');
      setImmediate(() => response.destroy());
    },
    words: /got no whole answer/,
  },
  {
    what: 'JSON that was cut on its way',
    answer: (response) => response.writeHead(200, JSON_TYPE).end('{"items":[{"met'),
    words: /the answer is not whole JSON/,
  },
  {
    what: 'a web page',
    answer: (response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
    words: /answered with a web page, perhaps a login/,
  },
  {
    what: 'words instead of JSON',
    answer: (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('OK'),
    words: /answered with text\/plain, not with JSON/,
  },
  {
    what: 'nothing at all',
    answer: (response) => response.writeHead(200).end(),
    words: /answered with no content type, not with JSON/,
  },
  {
    what: 'a list where an object should be',
    answer: (response) => answerJson(response, [null]),
    words: /has an unknown form/,
  },
  {
    what: 'null',
    answer: (response) => answerJson(response, null),
    words: /has an unknown form/,
  },
  {
    what: 'what may not be read',
    answer: (response) => answerJson(response, { message: 'not for very-secret' }, { status: 403 }),
    words: /answered 403, the token lacks a scope or its user lacks a role: .*not for \[token\]/,
  },
  {
    what: 'a redirect to a metadata server',
    answer: (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
    words: /redirected to http:\/\/169\.254\.169\.254, which is not in the configuration/,
  },
  {
    what: 'an encoding of its own',
    answer: (response) =>
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'constructor' }).end('{}'),
    words: /the unknown encoding "constructor"/,
  },
];

describe.each(TOOLS)('%s', (name, args) => {
  test.each(FAULTS)('is a named gap when it gets $what', async ({ answer, words }) => {
    const { url } = await startServer((_, response) => answer(response));
    const { call, toolbox } = await attach(name, url);

    const { result, isError } = await call(name, args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(words);
    expect(result.error).not.toContain('very-secret');
    expect(toolbox.gaps()).toEqual([expect.stringMatching(new RegExp(`^${name}`))]);
  });

  test('does not follow to a host that is not configured', async () => {
    const elsewhere = await startServer((_, response) => answerJson(response, { items: [] }));
    const { url } = await startServer(({ path }, response) =>
      response.writeHead(307, { location: elsewhere.url + path }).end(),
    );
    const { call } = await attach(name, url);

    expect((await call(name, args)).result.error).toContain('is not in the configuration');
    expect(elsewhere.requests).toEqual([]);
  });

  test('waits as long as it is asked to, and not without end', async () => {
    const clock = createFakeClock();
    const { url } = await startServer((_, response) => response.writeHead(429, { 'retry-after': '7' }).end());
    const { call, toolbox } = await attach(name, url, clock);

    const { result } = await call(name, args);

    expect(result.error).toContain('was answered 429');
    expect(Math.max(...clock.slept)).toBeGreaterThanOrEqual(6_999);
    expect(toolbox.gaps()).toHaveLength(1);
  });

  const isList = ['konflux_list_pipelineruns', 'konflux_list_snapshots', 'konflux_list_integration_tests'];
  const isGap = isList.includes(name);

  test(`is told that there is no such thing, which is ${isGap ? 'a gap: a list is always there' : 'no gap'}`, async () => {
    const { url } = await startServer((_, response) => answerJson(response, {}, { status: 404 }));
    const { call, toolbox } = await attach(name, url);

    const { isError } = await call(name, args);

    expect(isError).toBe(true);
    expect(toolbox.gaps()).toHaveLength(isGap ? 1 : 0);
  });
});

test('who falls silent is given up, whatever was asked', async () => {
  const { url } = await startServer(() => undefined);

  const answers = await Promise.all(
    TOOLS.map(async ([name, args]) => (await attach(name, url)).call(name, args)),
  );

  for (const [index, { result }] of answers.entries()) {
    expect(result.error, TOOLS[index]?.[0]).toContain('got no answer in time');
  }
});

test.each(['konflux_list_pipelineruns', 'testing_farm_get_request'])(
  '%s does not unpack what becomes very large',
  async (name) => {
    const bomb = gzipSync(Buffer.alloc(70 * 1024 * 1024, ' '));
    const { url } = await startServer((_, response) =>
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(bomb),
    );
    const { call } = await attach(name, url);

    const { result } = await call(name, name.startsWith('testing') ? REQUEST : {});

    expect(result.error).toContain('was answered with more than 67108864 bytes');
  },
);

describe('a log', () => {
  const LOGIN = { 'content-type': 'text/html; charset=utf-8' };

  test('of a step that is a login page is none', async () => {
    const { url } = await startServer(({ path }, response) => {
      if (path.endsWith('/log')) return response.writeHead(200, LOGIN).end('<html>Sign in</html>');
      const status = { podName: 'p', steps: [{ name: 'build', container: 'step-build' }] };
      return answerJson(response, { kind: 'TaskRun', metadata: { name: 'cart-ec' }, status });
    });
    const { call, toolbox } = await attachKonflux(url, clock());

    const { result } = await call('konflux_get_taskrun_log', { taskrun: 'cart-ec' });

    expect(result.error).toContain('answered with a web page, perhaps a login');
    expect(toolbox.gaps()).toHaveLength(1);
  });

  test.each([
    ['pipeline.log', true],
    ['work/data', false],
    ['work/report.html', false],
  ])('of a farm, %s, that is a web page is an error: %s', async (log, isWrong) => {
    const test = { fmf: { url: 'https://x.example.com/y', ref: SHA } };
    const { url } = await startServer(({ path }, response) =>
      path.includes('/requests/')
        ? answerJson(response, { id: REQUEST.request_id, state: 'complete', test })
        : response.writeHead(200, LOGIN).end('<html>'),
    );
    const { call } = await attachFarm(url, clock());

    expect(await call('testing_farm_get_log', { ...REQUEST, log })).toMatchObject({ isError: isWrong });
  });
});
