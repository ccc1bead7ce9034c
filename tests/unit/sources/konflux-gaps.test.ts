// Every tool of Konflux, called as the model calls it, while something is wrong with the world.
import { describe, expect, onTestFinished, test } from 'vitest';
import { pipelineRun, taskRun } from '../../../src/demo/konflux/objects.ts';
import { openKonfluxCluster } from '../../../src/sources/konflux/clusters.ts';
import { createKonfluxSource } from '../../../src/sources/konflux/source.ts';
import { createToolbox } from '../../services/redactor.ts';
import { answerJson, createFakeClock, startServer } from '../gitlab/gitlab-server.ts';
import { call } from '../tools/calling.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';
import { asModel, createKonfluxScene, GITLAB_URL, MR_IID, PROJECT, SHA } from './konflux-scene.ts';

const CALLS: [string, Record<string, unknown>][] = [
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
];

const OBJECTS = [
  pipelineRun({ name: 'cart-1', sha: SHA }),
  taskRun({ name: 'cart-ec', pipelineRun: 'cart-1', task: 'verify-conforma', steps: [{ name: 'assert' }] }),
  { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'Snapshot', metadata: { name: 'shop-1' } },
];

test('there is a call for every tool', async () => {
  const { source } = await createKonfluxScene();

  expect(CALLS.map(([name]) => name)).toEqual(source.tools.map(({ name }) => name));
});

test('no tool takes a namespace, a commit, a project or an address', async () => {
  const { cluster, call } = await createKonfluxScene();

  for (const [name, args] of CALLS) {
    for (const foreign of [{ namespace: 'x' }, { sha: SHA }, { project: 'a/b' }, { url: 'http://x' }]) {
      const { result } = await call(name, { ...args, ...foreign });
      expect(result.error).toContain('wrong arguments');
    }
  }
  expect(cluster.requests).toEqual([]);
});

describe.each(CALLS)('%s', (name, args) => {
  test('answers through the registry, inline and into a file', async () => {
    const { cluster, call, sandbox } = await createKonfluxScene();
    cluster.add(...OBJECTS);
    cluster.setLog('cart-ec-pod', 'step-assert', 'asserted\n');

    const inline = await call(name, args);
    const fetched = await call('fetch_to_sandbox', { tool: name, args, path: '/tmp/data/answer' });

    expect(inline).toMatchObject({ isError: false });
    expect(fetched).toMatchObject({ isError: false, result: { saved_to: '/tmp/data/answer' } });
    expect(sandbox.files.get('/tmp/data/answer')?.length).toBeGreaterThan(0);
  });

  test('with a wrong token says so', async () => {
    const { konflux } = await createKonfluxScene();
    const toolbox = await createToolboxAt(konflux.cluster.url, 'wrong');

    const { result, isError } = await call(toolbox, name, args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(
      new RegExp(`^${name}: cluster prod: GET .* 401, the token is invalid.*the same call will fail`),
    );
  });

  test('with everybody down says who, and what to do', async () => {
    const { cluster, archive, results, call, toolbox } = await createKonfluxScene();
    for (const one of [cluster, archive, results]) one.fail({ with: { status: 502 } });

    const { result, isError } = await call(name, args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(
      new RegExp(`^${name}: cluster prod: GET .* 502.*KubeArchive of prod: GET .* 502.*name the gap`),
    );
    expect(toolbox.gaps()).toHaveLength(1);
  });

  test('with nobody at the address says so', async () => {
    const { konflux, call } = await createKonfluxScene();
    await konflux.close();

    const { result } = await call(name, args);

    expect(result.error).toContain('could not reach cluster prod (ECONNREFUSED)');
  });

  test('is ended by an abort, with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('a newer commit was pushed');
    const arrived = Promise.withResolvers<void>();
    const { url } = await startServer(() => arrived.resolve());
    const toolbox = await createToolboxAt(url);

    const running = call(toolbox, name, args, controller.signal);
    await arrived.promise;
    controller.abort(reason);

    await expect(running).rejects.toBe(reason);
  });

  test('does not believe an answer of a form it does not know', async () => {
    const { url } = await startServer((_, response) => answerJson(response, { surprise: true }));

    const { result, isError } = await call(await createToolboxAt(url), name, args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(/cluster prod's answer about .* has an unknown form/);
  });
});

test('an archive that is down is a gap in the answer and in the report, and no failure', async () => {
  const { cluster, archive, ask, toolbox } = await createKonfluxScene();
  cluster.add(...OBJECTS);
  const fault = archive.fail({ with: { status: 500 } });

  const answer = await ask<{ total: number; remarks: string[] }>('konflux_list_pipelineruns');

  expect(answer.total).toBe(1);
  expect(answer.remarks).toEqual([
    expect.stringMatching(/^Not reached, so something may be missing: KubeArchive of prod: GET .* 500/),
  ]);
  expect(toolbox.gaps()).toEqual([
    expect.stringMatching(/^konflux_list_pipelineruns, in part: KubeArchive of prod: GET .* 500/),
  ]);

  fault.lift();
  await ask('konflux_list_pipelineruns');
  expect(toolbox.gaps()).toEqual([]);
});

test('a cluster that refuses us does not keep the archive from answering', async () => {
  const { archive, konflux } = await createKonfluxScene();
  archive.add(...OBJECTS);
  const forbidding = await startServer((_, response) =>
    answerJson(response, { kind: 'Status', message: 'forbidden: pipelineruns' }, { status: 403 }),
  );
  const cluster = await openCluster(forbidding.url, konflux.token, archive.url);
  const scope = { project: PROJECT, gitlabUrl: GITLAB_URL, mrIid: MR_IID, sha: SHA };
  const { ask } = asModel(createKonfluxSource([{ cluster, namespace: konflux.namespace }], scope));

  const list = await ask<{ total: number; remarks: string[] }>('konflux_list_pipelineruns');
  const one = await ask('konflux_get_pipelinerun', { pipelinerun: 'cart-1' });

  expect(list.total).toBe(1);
  expect(list.remarks[0]).toContain(
    '403, the token lacks a scope or its user lacks a role: forbidden: pipelineruns',
  );
  expect(one).toMatchObject({ found_in: 'KubeArchive of prod' });
});

test('one object instead of a list is a list of one', async () => {
  const { url } = await startServer((_, response) => answerJson(response, OBJECTS[0]));
  const toolbox = await createToolboxAt(url);

  const { result } = await call(toolbox, 'konflux_list_pipelineruns');

  expect(JSON.stringify(result)).toContain('cart-1');
});

test('a busy archive is asked again after the time it wants', async () => {
  const { archive, ask, clock } = await createKonfluxScene();
  archive.add(...OBJECTS);
  archive.fail({ match: { times: 1 }, with: { status: 429, retryAfter: 11 } });

  const { total } = await ask('konflux_list_pipelineruns');

  expect(total).toBe(1);
  expect(Math.max(...clock.slept)).toBeGreaterThanOrEqual(10_000);
});

test('several clusters are asked, each in the namespace it has for the project', async () => {
  const one = await createKonfluxScene();
  const two = await createKonfluxScene();
  one.cluster.add(pipelineRun({ name: 'in-one', sha: SHA }));
  two.archive.add(pipelineRun({ name: 'in-two', sha: SHA }));
  const tenancies = await Promise.all(
    [one, two].map(async ({ konflux }) => ({
      cluster: await openCluster(konflux.cluster.url, konflux.token, konflux.archive.url),
      namespace: konflux.namespace,
    })),
  );
  const { ask } = asModel(
    createKonfluxSource(tenancies, { project: PROJECT, gitlabUrl: GITLAB_URL, mrIid: MR_IID, sha: SHA }),
  );

  const { total } = await ask('konflux_list_pipelineruns');
  const found = await ask('konflux_get_pipelinerun', { pipelinerun: 'in-two' });

  expect(total).toBe(2);
  expect(found).toMatchObject({ pipelinerun: 'in-two', found_in: 'KubeArchive of prod' });
});

async function openCluster(url: string, token: string, kubearchiveUrl?: string) {
  const cluster = await openKonfluxCluster({
    name: 'prod',
    login: { kind: 'token', url, token },
    token,
    kubearchiveUrl,
    timeoutMs: 2_000,
    clock: createFakeClock(),
    learn: () => undefined,
  });
  onTestFinished(() => cluster.close());
  return cluster;
}

async function createToolboxAt(url: string, token = 'any') {
  const cluster = await openCluster(url, token);
  const scope = { project: PROJECT, gitlabUrl: GITLAB_URL, mrIid: MR_IID, sha: SHA };
  const source = createKonfluxSource([{ cluster, namespace: 'shop-tenant' }], scope);
  return createToolbox({ sandbox: createMemorySandbox(), sources: [source] });
}
