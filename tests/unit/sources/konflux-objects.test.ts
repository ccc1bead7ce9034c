import { expect, test } from 'vitest';
import { type KubeObject, pipelineRun, taskRun, testOutput } from '../../../src/demo/konflux/objects.ts';
import { answerJson, startServer } from '../gitlab/gitlab-server.ts';
import { createKonfluxScene, MR_IID, PROJECT, SHA } from './konflux-scene.ts';

const APPSTUDIO = 'appstudio.redhat.com/v1alpha1';
const PAC = 'pipelinesascode.tekton.dev';
const TEST_RUN = pipelineRun({ name: 'cart-e2e-1', sha: SHA, type: 'test' });

const scenario = (name: string, application: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'appstudio.redhat.com/v1beta2',
  kind: 'IntegrationTestScenario',
  metadata: { name, labels },
  spec: {
    application,
    contexts: [{ name: 'pull_request' }],
    resolverRef: { resolver: 'git', params: [{ name: 'pathInRepo', value: 'e2e.yaml' }] },
  },
});

const snapshotOf = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: APPSTUDIO,
  kind: 'Snapshot',
  metadata: { name, uid: `uid-${name}`, labels },
  spec: { application: `${name}-app` },
});

test('TEST_OUTPUT of every task is decoded; anything but SUCCESS, SKIPPED and WARNING is a failed check', async () => {
  const { cluster, ask } = await createKonfluxScene();
  const outputs = ['SUCCESS', 'SKIPPED', 'WARNING', 'FAILURE', 'ERROR'];
  cluster.add(
    TEST_RUN,
    ...outputs.map((result) =>
      taskRun({
        name: `check-${result.toLowerCase()}`,
        pipelineRun: 'cart-e2e-1',
        task: result.toLowerCase(),
        results: [testOutput(result, `note of ${result}`)],
      }),
    ),
    taskRun({
      name: 'check-broken',
      pipelineRun: 'cart-e2e-1',
      task: 'broken',
      results: [{ name: 'TEST_OUTPUT', value: '{"result":' }],
    }),
    taskRun({ name: 'plain', pipelineRun: 'cart-e2e-1', task: 'plain' }),
  );

  const answer = await ask<{ failed: number; checks: { task: string; failed: boolean }[] }>(
    'konflux_list_test_results',
    { pipelinerun: 'cart-e2e-1' },
  );

  expect(answer).toMatchObject({ failed: 3, tasks_without_a_check: 1 });
  expect(answer.checks.map(({ task, failed }) => [task, failed])).toEqual([
    ['failure', true],
    ['error', true],
    ['broken', true],
    ['success', false],
    ['skipped', false],
    ['warning', false],
  ]);
  expect(answer.checks[0]).toMatchObject({
    taskrun_state: 'Succeeded',
    result: 'FAILURE',
    note: 'note of FAILURE',
    successes: 3,
    failures: 1,
  });
});

test('task runs show steps with exit codes and reasons, results, and what failed first', async () => {
  const { cluster, ask } = await createKonfluxScene();
  cluster.add(
    TEST_RUN,
    taskRun({ name: 'good', pipelineRun: 'cart-e2e-1', task: 'good' }),
    taskRun({
      name: 'bad',
      pipelineRun: 'cart-e2e-1',
      task: 'bad',
      condition: { status: 'False', reason: 'Failed', message: 'exit 3' },
      steps: [
        { name: 'run', terminated: { exitCode: 3, reason: 'Error', message: 'boom' } },
        { name: 'wait', waiting: { reason: 'ImagePullBackOff', message: 'no such image' } },
      ],
      results: [{ name: 'IMAGES', value: ['a', 'b'] }],
    }),
  );

  const all = await ask('konflux_list_taskruns', { pipelinerun: 'cart-e2e-1' });
  const failed = await ask('konflux_list_taskruns', { pipelinerun: 'cart-e2e-1', only_failed: true });

  expect(all).toMatchObject({ total: 2, failed: 1, taskruns: [{ taskrun: 'bad' }, { taskrun: 'good' }] });
  expect(failed.taskruns).toMatchObject([
    {
      taskrun: 'bad',
      pod: 'bad-pod',
      conditions: [{ type: 'Succeeded', status: 'False', reason: 'Failed', message: 'exit 3' }],
      steps: [
        { step: 'run', container: 'step-run', state: 'terminated', exit_code: 3, message: 'boom' },
        { step: 'wait', state: 'waiting', reason: 'ImagePullBackOff', message: 'no such image' },
      ],
      results: [{ name: 'IMAGES', value: ['a', 'b'] }],
    },
  ]);
});

test('a pod that never started is told by its containers and the events about it, an odd one aside', async () => {
  const { cluster, ask } = await createKonfluxScene();
  const event = (name: string, of: string, reason: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name },
    involvedObject: { kind: 'Pod', name: of },
    type: 'Warning',
    reason,
    message: '0/9 nodes are available: insufficient memory',
    count: 4,
    lastTimestamp: '2026-11-18T09:05:00Z',
  });
  cluster.add(
    taskRun({ name: 'stuck', pipelineRun: 'cart-e2e-1', task: 'build' }),
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'stuck-pod' },
      status: {
        phase: 'Pending',
        conditions: [
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'none fits' },
        ],
        containerStatuses: [{ name: 'step-build', state: { waiting: { reason: 'ImagePullBackOff' } } }],
      },
    },
    event('e1', 'stuck-pod', 'FailedScheduling'),
    event('e2', 'other-pod', 'BackOff'),
    { ...event('e3', 'stuck-pod', 'Odd'), count: '3' },
  );

  const answer = await ask('konflux_get_pod_events', { taskrun: 'stuck' });

  expect(answer).toMatchObject({
    phase: 'Pending',
    conditions: [{ reason: 'Unschedulable', message: 'none fits' }],
    containers: [{ container: 'step-build', state: 'waiting', reason: 'ImagePullBackOff' }],
    events: [
      { reason: 'FailedScheduling', message: expect.stringContaining('insufficient memory'), count: 4 },
    ],
    remarks: [expect.stringMatching(/^1 left out: cluster prod's answer about an event .* count/)],
  });
});

test('snapshots show images, their build and how each integration test ended', async () => {
  const { cluster, archive, ask } = await createKonfluxScene();
  const tests = [{ scenario: 'e2e', status: 'TestFail', details: 'boom', testPipelineRunName: 'cart-e2e-1' }];
  const snapshot: KubeObject = {
    apiVersion: APPSTUDIO,
    kind: 'Snapshot',
    metadata: {
      name: 'shop-abc',
      uid: 'snap-1',
      creationTimestamp: '2026-11-18T09:00:00Z',
      labels: {
        'pac.test.appstudio.openshift.io/sha': SHA,
        'appstudio.openshift.io/build-pipelinerun': 'cart-1',
        'test.appstudio.openshift.io/type': 'component',
      },
      annotations: { 'test.appstudio.openshift.io/status': JSON.stringify(tests) },
    },
    spec: {
      application: 'shop',
      components: [{ name: 'cart', containerImage: 'quay.io/shop/cart@sha256:1' }],
    },
    status: { conditions: [{ type: 'AppStudioTestSucceeded', status: 'False', reason: 'Failed' }] },
  };
  cluster.add(snapshot);
  archive.add(snapshot);

  const { total, snapshots } = await ask<{ total: number; snapshots: object[] }>('konflux_list_snapshots');

  expect(total).toBe(1);
  expect(snapshots).toMatchObject([
    {
      snapshot: 'shop-abc',
      build_pipelinerun: 'cart-1',
      integration_tests: [
        { scenario: 'e2e', status: 'TestFail', details: 'boom', pipelinerun: 'cart-e2e-1' },
      ],
      conditions: [{ type: 'AppStudioTestSucceeded', status: 'False' }],
      components: [{ name: 'cart', image: 'quay.io/shop/cart@sha256:1' }],
    },
  ]);
});

test('integration tests tell whether they block and where their pipeline comes from', async () => {
  const { cluster, ask } = await createKonfluxScene();
  cluster.add(
    TEST_RUN,
    scenario('e2e', 'shop', { 'test.appstudio.openshift.io/optional': 'true' }),
    scenario('policy', 'shop'),
    scenario('foreign', 'bank'),
  );

  const { scenarios } = await ask('konflux_list_integration_tests', { application: 'shop' });

  expect(scenarios).toMatchObject([
    { scenario: 'e2e', optional: true, pipeline: { resolver: 'git', pathInRepo: 'e2e.yaml' } },
    { scenario: 'policy', optional: false, contexts: ['pull_request'] },
  ]);
});

test("integration tests are those of the commit's applications, also when another one is asked for", async () => {
  const { cluster, ask } = await createKonfluxScene();
  cluster.add(
    TEST_RUN,
    snapshotOf('till', { 'pac.test.appstudio.openshift.io/sha': SHA }),
    scenario('of-the-run', 'shop'),
    scenario('of-the-snapshot', 'till-app'),
    scenario('foreign', 'bank'),
  );

  const all = await ask('konflux_list_integration_tests');
  const foreign = await ask('konflux_list_integration_tests', { application: 'bank' });

  expect(all).toMatchObject({
    applications: ['shop', 'till-app'],
    scenarios: [{ scenario: 'of-the-run' }, { scenario: 'of-the-snapshot' }],
  });
  expect(foreign).toMatchObject({ total: 0, applications: ['shop', 'till-app'] });
});

test('without a run of the commit integration tests are those of the merge request, and none of others', async () => {
  const { cluster, ask } = await createKonfluxScene({ sha: 'f'.repeat(40) });
  cluster.add(scenario('of-the-run', 'shop'), scenario('foreign', 'bank'));

  const without = await ask('konflux_list_integration_tests');
  cluster.add(
    pipelineRun({
      name: 'cart-old',
      labels: { [`${PAC}/pull-request`]: String(MR_IID) },
      annotations: { [`${PAC}/target-project-id`]: String(PROJECT.id) },
    }),
  );
  const earlier = await ask('konflux_list_integration_tests');

  expect(without).toMatchObject({ total: 0, scenarios: [], note: expect.stringContaining('none is shown') });
  expect(earlier).toMatchObject({ applications: ['shop'], scenarios: [{ scenario: 'of-the-run' }] });
});

test('a cluster that knows only the older version of integration tests is asked for that', async () => {
  const items = [scenario('e2e', 'shop')];
  const { url, requests } = await startServer(({ path }, response) => {
    if (path.includes('/v1beta2/')) return answerJson(response, { message: 'no such path' }, { status: 404 });
    const found = { pipelineruns: [TEST_RUN], integrationtestscenarios: items }[path.split('/').at(-1) ?? ''];
    return answerJson(response, { items: found ?? [] });
  });
  const { ask, toolbox } = await createKonfluxScene({
    cluster: {
      login: { kind: 'token', url, token: 'x' },
      kubearchiveUrl: undefined,
      tektonResultsUrl: undefined,
    },
  });

  const answer = await ask('konflux_list_integration_tests');

  expect(answer).toMatchObject({ scenarios: [{ scenario: 'e2e' }] });
  expect(toolbox.gaps()).toEqual([]);
  expect(requests.some(({ path }) => path.includes('/v1beta1/'))).toBe(true);
});

test('integration tests say when not all runs were looked at for their applications', async () => {
  const { cluster, ask } = await createKonfluxScene();
  const runs = Array.from({ length: 1_001 }, (_, index) => pipelineRun({ name: `r-${index}`, sha: SHA }));
  cluster.add(...runs, scenario('e2e', 'shop'));

  expect(await ask('konflux_list_integration_tests')).toMatchObject({
    total: 1,
    remarks: ['cluster prod has more than was read; these are only the first.'],
  });
});

test("releases of another project's snapshot, or of one nobody has, are not told", async () => {
  const { cluster, call } = await createKonfluxScene();
  const release = (snapshot: string): KubeObject => ({
    apiVersion: APPSTUDIO,
    kind: 'Release',
    metadata: { name: `release-of-${snapshot}` },
    spec: { snapshot, releasePlan: 'secret' },
  });
  cluster.add(
    snapshotOf('theirs', { 'pac.test.appstudio.openshift.io/target-project-id': '43' }),
    release('theirs'),
    release('gone'),
  );

  const theirs = await call('konflux_list_releases', { snapshot: 'theirs' });
  const gone = await call('konflux_list_releases', { snapshot: 'gone' });

  expect(theirs.result.error).toContain('Snapshot theirs belongs to another project');
  expect(gone.result.error).toContain('There is no Snapshot gone');
});

test('releases of a snapshot name the runs that process them, and which can not be read', async () => {
  const { cluster, ask } = await createKonfluxScene();
  const release = (name: string, snapshot: string): KubeObject => ({
    apiVersion: APPSTUDIO,
    kind: 'Release',
    metadata: { name },
    spec: { snapshot, releasePlan: 'stage' },
    status: {
      target: 'managed-tenant',
      conditions: [{ type: 'Released', status: 'False', reason: 'Failed', message: 'policy' }],
      tenantProcessing: { pipelineRun: 'shop-tenant/tenant-1' },
      managedProcessing: { pipelineRun: 'managed-tenant/managed-1', startTime: '2026-11-18T09:00:00Z' },
      finalProcessing: {},
    },
  });
  cluster.add(snapshotOf('shop-abc'), release('r1', 'shop-abc'), release('r2', 'other'));

  const { releases } = await ask('konflux_list_releases', { snapshot: 'shop-abc' });

  expect(releases).toMatchObject([
    {
      release: 'r1',
      conditions: [{ type: 'Released', message: 'policy' }],
      processing: [
        { stage: 'tenant', pipelinerun: 'tenant-1' },
        { stage: 'managed', pipelinerun: 'managed-1', in_other_namespace: 'managed-tenant' },
      ],
    },
  ]);
});

const REPORT = {
  success: false,
  components: [
    {
      name: 'cart',
      containerImage: 'quay.io/shop/cart@sha256:1',
      success: false,
      violations: [
        {
          msg: 'CVE scan results not found',
          metadata: {
            code: 'cve.missing_cve_scan_results',
            title: 'Missing CVE scan results',
            solution: 'Run {clair-scan} in the "build"',
          },
        },
        { msg: 'Image URL is not accessible' },
      ],
      warnings: [{ msg: 'Old task', metadata: { code: 'tasks.old', effective_on: '2027-01-01T00:00:00Z' } }],
      successes: 12,
    },
  ],
};

test.each([
  ['on one line', `step text\n${JSON.stringify(REPORT)}\nmore`],
  ['on many lines', `{"a": 1}\n${JSON.stringify(REPORT, null, 2)}\n`],
  ['behind the name of its step', `step-report-json :-${JSON.stringify(REPORT)}`],
])('a policy report %s becomes a table of violations', async (_form, log) => {
  const { cluster, archive, ask } = await createKonfluxScene();
  cluster.add(
    TEST_RUN,
    taskRun({
      name: 'ec',
      pipelineRun: 'cart-e2e-1',
      task: 'verify',
      steps: [{ name: 'report-json' }, { name: 'assert' }],
      results: [testOutput('FAILURE', 'violated')],
    }),
  );
  archive.setLog('ec-pod', 'step-report-json', log);

  const { reports } = await ask('konflux_get_policy_report', { pipelinerun: 'cart-e2e-1' });

  expect(reports).toMatchObject([
    {
      taskrun: 'ec',
      success: false,
      violations: 2,
      warnings: 1,
      check: { result: 'FAILURE', failed: true },
      table: [
        {
          kind: 'violation',
          component: 'cart',
          rule: 'cve.missing_cve_scan_results',
          message: 'CVE scan results not found',
          solution: 'Run {clair-scan} in the "build"',
        },
        { kind: 'violation', rule: null, message: 'Image URL is not accessible' },
        { kind: 'warning', rule: 'tasks.old' },
      ],
    },
  ]);
});

test('of a log that is too long only the beginning is searched for a policy report, and it says so', async () => {
  const { cluster, ask } = await createKonfluxScene();
  cluster.add(
    TEST_RUN,
    taskRun({ name: 'ec', pipelineRun: 'cart-e2e-1', task: 'verify', steps: [{ name: 'report-json' }] }),
  );
  cluster.setLog('ec-pod', 'step-report-json', `${'x'.repeat(9_000_000)}\n${JSON.stringify(REPORT)}`);

  expect(await ask('konflux_get_policy_report', { pipelinerun: 'cart-e2e-1' })).toMatchObject({
    reports: [
      { note: expect.stringMatching(/^The first 8388608 characters of its log hold no whole report/) },
    ],
  });
});

test('that a run verifies no policy, or a task run has no pod, is an answer and no gap', async () => {
  const { cluster, call, toolbox } = await createKonfluxScene();
  cluster.add(TEST_RUN, taskRun({ name: 'unborn', pipelineRun: 'cart-e2e-1', task: 'build', pod: null }));

  const policy = await call('konflux_get_policy_report', { pipelinerun: 'cart-e2e-1' });
  const pod = await call('konflux_get_pod_events', { taskrun: 'unborn' });

  expect(policy.result.error).toContain('has no task that verifies a policy');
  expect(pod.result.error).toContain('has no pod: it was never created; its condition says why');
  expect(toolbox.gaps()).toEqual([]);
});

test('a policy report whose log is gone is a gap, and the check is still told', async () => {
  const { cluster, ask, toolbox } = await createKonfluxScene();
  const results = [testOutput('FAILURE', 'violated')];
  cluster.add(TEST_RUN, taskRun({ name: 'ec', pipelineRun: 'cart-e2e-1', task: 'verify-conforma', results }));

  const { reports } = await ask('konflux_get_policy_report', { pipelinerun: 'cart-e2e-1' });

  expect(reports).toMatchObject([
    { check: { note: 'violated' }, note: expect.stringContaining('Not available') },
  ]);
  expect(toolbox.gaps()).toEqual([
    expect.stringMatching(/^konflux_get_policy_report .*, in part: the report of ec/),
  ]);
});
