import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openTestingFarm } from '../../../src/sources/testing-farm/connection.ts';
import { createTestingFarmSource } from '../../../src/sources/testing-farm/source.ts';
import { answerJson, createFakeClock, startServer } from '../gitlab/gitlab-server.ts';
import { asModel, SHA } from './konflux-scene.ts';

const ID = '7d6a6cbf-3cd5-49fb-aca1-f76ffa0734aa';
const ARGS = { request_id: ID };

interface World {
  request?: Record<string, unknown>;
  status?: number;
  /** By path below the request. */
  files?: Record<string, string | Buffer>;
  headers?: Record<string, string>;
  /** What systems outside reported for the commit. */
  statuses?: string[];
}

async function createFarm(world: World = {}) {
  const { request = {}, status = 200, files = {}, headers = {}, statuses = [] } = world;
  const artifacts = await startServer(({ path }, response) => {
    const file = files[decodeURIComponent(path).replace(`/store/${ID}/`, '')];
    return file === undefined
      ? response.writeHead(404).end()
      : response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(file);
  });
  const artifactsUrl = `${artifacts.url}/store`;
  const api = await startServer((_, response) =>
    answerJson(response, toRequest(request, artifactsUrl), { status }),
  );
  const options = { url: `${api.url}/v0.1`, artifactsUrl, token: 'farm-token', timeoutMs: 2_000 };
  const farm = openTestingFarm({ ...options, clock: createFakeClock() });
  onTestFinished(() => farm.close());
  const source = createTestingFarmSource(farm, {
    sha: SHA,
    project: { path: 'group/app' },
    gitlabUrl: 'https://gitlab.example.com',
    otherHosts: ['ssh.example.com'],
    testRepositories: ['https://git.example.com/qe/tests', 'https://git.example.com/shared/**'],
    readStatuses: async () => statuses,
  });
  return { api, artifacts, ...asModel(source) };
}

function toRequest(changed: Record<string, unknown>, artifactsUrl: string) {
  return {
    id: ID,
    state: 'complete',
    test: { fmf: { url: 'https://gitlab.example.com/group/app', ref: SHA, name: null }, sti: null },
    environments_requested: [
      {
        arch: 'x86_64',
        os: { compose: 'Fedora-43' },
        secrets: { TOKEN: 'hunter2' },
        variables: { PASSWORD: 'hunter3' },
        artifacts: [{ id: '123', type: 'fedora-copr-build' }],
      },
    ],
    notes: [{ level: 'info', message: 'dispatched' }],
    result: { overall: 'failed', summary: null, xunit: null, xunit_url: null },
    run: { artifacts: `${artifactsUrl}/${ID}` },
    queued_time: 15.5,
    run_time: 188,
    ...changed,
  };
}

const XUNIT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites overall-result="failed">
 <testsuite name="/plans/unit" result="passed" tests="1">
  <testcase name="/tests/fine" result="passed" time="3"/>
 </testsuite>
 <testsuite name="/plans/all" result="failed" tests="3">
  <logs>
   <log href="${ID}/../../secret" name="odd"/>
   <log href="work-all/tmt-run.log" name="tmt-log"/>
   <log href="https://elsewhere.example.com/x.log" name="console"/>
  </logs>
  <testcase name="/tests/ok" result="PASS"/>
  <testcase name="/tests/skipped" result="skipped"/>
  <testcase name="/tests/überfall &amp; mehr" result="FAIL" time="12.5">
   <failure message="expected 1 &lt; 0">Traceback ✗</failure>
   <logs><log href="work-all/tests/über fall/output.txt" name="testout.log"/></logs>
  </testcase>
  <testing-environment name="requested">
   <property name="arch" value="aarch64"/><property name="compose" value="Fedora-43"/>
  </testing-environment>
 </testsuite>
 <testsuite name="pipeline"><testcase name="failure" result="error"/></testsuite>
</testsuites>`;

test('a log whose name is not encoded as it should be is listed, and read', async () => {
  const xunit = `<testsuites><testsuite name="p" result="failed">
    <logs><log href="100%.log" name="odd"/></logs></testsuite></testsuites>`;
  const { call } = await createFarm({ request: { result: { xunit } }, files: { '100%.log': 'hello' } });

  const listed = await call('testing_farm_list_results', ARGS);
  const log = await call('testing_farm_get_log', { ...ARGS, log: '100%.log' });

  expect(JSON.stringify(listed.result.result)).toContain('"100%.log"');
  expect(log.result.result).toContain('hello');
});

test('a request shows state, summary and what was tested, and none of its secrets', async () => {
  const { api, call } = await createFarm({
    request: { state: 'error', result: { overall: 'error', summary: 'No machine could be provisioned' } },
  });

  const { result } = await call('testing_farm_get_request', ARGS);

  expect(result.result).toMatchObject({
    state: 'error',
    result: 'error',
    summary: 'No machine could be provisioned',
    notes: ['info: dispatched'],
    test: { kind: 'tmt', ref: SHA },
    names_this_commit: true,
    environments: [{ arch: 'x86_64', compose: 'Fedora-43', artifacts: ['fedora-copr-build 123'] }],
    queued_seconds: 15.5,
  });
  expect(JSON.stringify(result)).not.toContain('hunter');
  expect(api.requests.map(({ path, authorization }) => [path, authorization])).toEqual([
    [`/v0.1/requests/${ID}`, 'Bearer farm-token'],
  ]);
});

describe('results', () => {
  test('are shown for each plan and test, failed ones first, with logs by their paths', async () => {
    const { ask, artifacts } = await createFarm({ files: { 'results.xml': XUNIT } });

    const answer = await ask<{ plans: unknown[] }>('testing_farm_list_results', ARGS);

    expect(answer).toMatchObject({ result: 'failed', failed_tests: 2 });
    expect(answer.plans).toMatchObject([
      {
        plan: '/plans/all',
        result: 'failed',
        arch: 'aarch64',
        compose: 'Fedora-43',
        logs: [
          { name: 'odd', not_readable: expect.any(String) },
          { name: 'tmt-log', log: 'work-all/tmt-run.log' },
          { name: 'console', not_readable: expect.any(String) },
        ],
        tests: [
          {
            test: '/tests/überfall & mehr',
            result: 'failed',
            seconds: 12.5,
            message: 'expected 1 < 0\nTraceback ✗',
            logs: [{ name: 'testout.log', log: 'work-all/tests/über fall/output.txt' }],
          },
          { test: '/tests/ok', result: 'passed' },
          { test: '/tests/skipped', result: 'skipped' },
        ],
      },
      { plan: 'pipeline', result: 'error', tests: [{ test: 'failure', result: 'error' }] },
      { plan: '/plans/unit', result: 'passed' },
    ]);
    expect(artifacts.requests[0]?.authorization).toBeUndefined();
  });

  test('can be those that failed only', async () => {
    const { ask } = await createFarm({ files: { 'results.xml': XUNIT } });

    const { plans } = await ask('testing_farm_list_results', { ...ARGS, only_failed: true });

    expect(plans).toMatchObject([{ tests: [{ result: 'failed' }] }, { tests: [{ result: 'error' }] }]);
    expect(plans).toHaveLength(2);
  });

  test('of very many tests are those that failed, and a note tells how many are left out', async () => {
    const many = '<testcase name="/tests/fine" result="passed"/>'.repeat(10_000);
    const xml = XUNIT.replace('<testcase name="/tests/ok" result="PASS"/>', many);
    const { ask } = await createFarm({ files: { 'results.xml': xml } });

    const answer = await ask<{ plans: { tests: unknown[] }[] }>('testing_farm_list_results', ARGS);

    expect(answer).toMatchObject({ failed_tests: 2, note: expect.stringMatching(/^10002 of 10004 tests/) });
    expect(answer.plans.flatMap(({ tests }) => tests)).toMatchObject([
      { test: '/tests/überfall & mehr', result: 'failed' },
      { test: 'failure', result: 'error' },
    ]);
  });

  test.each(['constructor', '__proto__', 'toString'])('may have any word as a result: %s', async (word) => {
    const xunit = `<testsuites overall-result="${word}"><testsuite name="p" result="${word}">
      <testcase name="t" result="${word}"/></testsuite></testsuites>`;
    const { ask } = await createFarm({ request: { result: { xunit } } });

    expect(await ask('testing_farm_list_results', ARGS)).toMatchObject({
      failed_tests: 1,
      plans: [{ result: word.toLowerCase(), tests: [{ test: 't', result: word.toLowerCase() }] }],
    });
  });

  test('inside of the request are taken from there', async () => {
    const { ask, artifacts } = await createFarm({
      request: { result: { overall: 'passed', xunit: '<testsuites overall-result="passed"></testsuites>' } },
    });

    const answer = await ask('testing_farm_list_results', ARGS);

    expect(answer).toMatchObject({ result: 'passed', plans: [], note: expect.stringContaining('no plans') });
    expect(artifacts.requests).toEqual([]);
  });

  test('on another host are not fetched, and the message names the setting', async () => {
    const { call } = await createFarm({
      request: { result: { overall: 'failed', xunit_url: 'https://evil.example.com/results.xml' } },
    });

    const { result } = await call('testing_farm_list_results', ARGS);

    expect(result.error).toContain(
      'evil.example.com, which is not the configured sources.testingFarm.artifactsUrl',
    );
  });

  test.each([
    ['half of them', XUNIT.slice(0, 400), /not whole XML/],
    ['no XML', 'Not here', /not whole XML/],
    ['other XML', '<html><body/></html>', /has an unknown form/],
  ])('that are %s are a gap', async (_what, xml, words) => {
    const { call, toolbox } = await createFarm({ files: { 'results.xml': xml } });

    const { result, isError } = await call('testing_farm_list_results', ARGS);

    expect(isError).toBe(true);
    expect(result.error).toMatch(words);
    expect(toolbox.gaps()).toHaveLength(1);
  });

  test('with entities that make much of little are refused', async () => {
    const lol = Array.from({ length: 12 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join(
      '',
    );
    const xml = `<!DOCTYPE x [<!ENTITY l0 "lol">${lol}]><testsuites><testsuite name="&l12;"/></testsuites>`;
    const { call } = await createFarm({ files: { 'results.xml': xml } });

    const { result } = await call('testing_farm_list_results', ARGS);

    expect(JSON.stringify(result).length).toBeLessThan(10_000);
  });
});

describe('logs', () => {
  test('are the pipeline log unless told, or one that the results name', async () => {
    const files = { 'pipeline.log': 'provisioning\n', 'work-all/tests/über fall/output.txt': 'boom ✗\n' };
    const { ask, call, sandbox } = await createFarm({ files });

    expect(await ask('testing_farm_get_log', ARGS)).toBe('provisioning\n');
    const args = { ...ARGS, log: 'work-all/tests/über fall/output.txt' };
    await call('fetch_to_sandbox', { tool: 'testing_farm_get_log', args, path: '/tmp/data/test.log' });
    expect(sandbox.files.get('/tmp/data/test.log')?.toString()).toBe('boom ✗\n');
  });

  test('of 100 MB go into a file to their last byte', async () => {
    const line = `${'ü'.repeat(49)}\n`;
    const log = `${line.repeat(1_000_000)}the end`;
    const { call, sandbox } = await createFarm({ files: { 'pipeline.log': log } });

    const { result } = await call('fetch_to_sandbox', {
      tool: 'testing_farm_get_log',
      args: ARGS,
      path: 'a.log',
    });

    expect(result).toMatchObject({ saved_to: '/tmp/data/a.log', bytes: Buffer.byteLength(log) });
    expect(sandbox.files.get('/tmp/data/a.log')?.subarray(-7).toString()).toBe('the end');
  }, 60_000);

  test('are unpacked when they are stored packed', async () => {
    const { ask } = await createFarm({
      files: { 'pipeline.log': gzipSync('packed\n') },
      headers: { 'content-encoding': 'gzip' },
    });

    expect(await ask('testing_farm_get_log', ARGS)).toBe('packed\n');
  });

  test.each(['../other/pipeline.log', 'a/../../b', '/etc/passwd', 'a\\..\\b', 'https://evil.example.com/x'])(
    'outside of the request can not be named: %j',
    async (log) => {
      const { call, artifacts } = await createFarm();

      expect(await call('testing_farm_get_log', { ...ARGS, log })).toMatchObject({ isError: true });
      expect(artifacts.requests.every(({ path }) => path.startsWith(`/store/${ID}/`))).toBe(true);
    },
  );
});

const CALLS: [string, Record<string, unknown>][] = [
  ['testing_farm_get_request', ARGS],
  ['testing_farm_list_results', ARGS],
  ['testing_farm_get_log', ARGS],
];

describe.each(CALLS)('%s', (name, args) => {
  const FILES = { 'results.xml': XUNIT, 'pipeline.log': 'fine\n' };
  const testing = (url: string, ref = 'main') => ({ test: { fmf: { url, ref } } });

  test.each([
    ['this commit, wherever it is', testing('https://elsewhere.example.com/fork/app', SHA)],
    ['this project', testing('https://gitlab.example.com/Group/App.git')],
    ['this project over SSH', testing('git@gitlab.example.com:group/app.git')],
    ['this project under another name of GitLab', testing('ssh://git@ssh.example.com:2222/group/app')],
    ['a repository that is listed', testing('https://git.example.com/qe/tests.git')],
    ['a repository below a listed one', testing('https://git.example.com/shared/plans/all')],
    ['merged as this commit', { test: { fmf: { url: 'https://x.example.com/y', merge_sha: SHA } } }],
  ])('reads a request that tests %s', async (_, request) => {
    const { call } = await createFarm({ request, files: FILES });

    expect(await call(name, args)).toMatchObject({ isError: false });
  });

  test('reads a request that a status of the commit links to', async () => {
    const statuses = [`https://farm.example.com/${ID.toUpperCase()} tests failed`];
    const { call } = await createFarm({
      request: testing('https://x.example.com/y'),
      files: FILES,
      statuses,
    });

    expect(await call(name, args)).toMatchObject({ isError: false });
  });

  test.each([
    ['another project', testing('https://gitlab.example.com/group/other')],
    ['a project whose path ends alike', testing('https://gitlab.example.com/evil/group/app')],
    ['the same path on another host', testing('https://evil.example.com/group/app')],
    ['a repository beside a listed one', testing('https://git.example.com/qe/tests-secret')],
    ['a folder that begins like a listed one', testing('https://git.example.com/shared-secret/x')],
    ['nobody knows what', { test: null }],
  ])('refuses a request that tests %s, and shows nothing of it', async (_, request) => {
    const { call, artifacts } = await createFarm({ request, files: FILES, statuses: ['https://farm/x no'] });

    const { result, isError } = await call(name, args);

    expect(isError).toBe(true);
    expect(result.error).toContain(`Request ${ID} is not one of this job`);
    expect(result.error).toContain('sources.testingFarm.testRepositories');
    expect(JSON.stringify(result)).not.toMatch(/complete|secret|fine/);
    expect(artifacts.requests).toEqual([]);
  });

  test('answers through the registry, inline and into a file', async () => {
    const files = { 'results.xml': XUNIT, 'pipeline.log': 'fine\n' };
    const { call, sandbox } = await createFarm({ files });

    expect(await call(name, args)).toMatchObject({ isError: false });
    const fetched = await call('fetch_to_sandbox', { tool: name, args, path: '/tmp/data/answer' });
    expect(fetched).toMatchObject({ isError: false });
    expect(sandbox.files.get('/tmp/data/answer')?.length).toBeGreaterThan(0);
  });

  test.each(['x', '../requests', `${ID}/../..`, `https://evil/${ID}`])(
    'takes no %j for an id',
    async (id) => {
      const { call, api, artifacts } = await createFarm();

      expect((await call(name, { request_id: id })).result.error).toContain('is not the id of a request');
      expect([...api.requests, ...artifacts.requests]).toEqual([]);
    },
  );

  test.each([401, 403, 404, 500])('%i is told in words', async (status) => {
    const { call } = await createFarm({ status });

    const { result, isError } = await call(name, args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(new RegExp(`^${name}: GET .* was answered ${status}`));
  });
});

test('a request of a form that is not known is not believed', async () => {
  const { call } = await createFarm({ request: { state: 7 } });

  const { result } = await call('testing_farm_get_request', ARGS);

  expect(result.error).toContain(`Testing Farm's answer about request ${ID} has an unknown form: state`);
});
