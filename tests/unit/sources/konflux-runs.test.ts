import type { ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { type KubeObject, pipelineRun, taskRun } from '../../../src/demo/konflux/objects.ts';
import { answerJson, startServer } from '../gitlab/gitlab-server.ts';
import { createKonfluxScene, SHA } from './konflux-scene.ts';

interface Listed {
  total: number;
  failed: number;
  pipelineruns: { pipelinerun: string; state: string; found_in: string; [further: string]: unknown }[];
  remarks?: string[];
  note?: string;
}

const FAILED = { status: 'False', reason: 'Failed', message: 'Tasks Completed: 3 (Failed: 1)' };
const RUNNING = { status: 'Unknown', reason: 'Running', message: 'Tasks Completed: 1, Incomplete: 2' };

test('builds and tests of a commit are found by either label, failed ones first', async () => {
  const { cluster, ask } = await createKonfluxScene();
  cluster.add(
    pipelineRun({ name: 'cart-on-pull-request-1', sha: SHA }),
    pipelineRun({
      name: 'cart-e2e-1',
      sha: SHA,
      type: 'test',
      condition: FAILED,
      labels: { 'test.appstudio.openshift.io/scenario': 'e2e' },
    }),
    pipelineRun({ name: 'other', sha: 'b'.repeat(40) }),
  );

  const { total, failed, pipelineruns } = await ask<Listed>('konflux_list_pipelineruns');

  expect({ total, failed }).toEqual({ total: 2, failed: 1 });
  expect(pipelineruns).toMatchObject([
    {
      pipelinerun: 'cart-e2e-1',
      type: 'test',
      state: 'Failed',
      scenario: 'e2e',
      sha: SHA,
      found_in: 'cluster prod',
      url: 'https://konflux.example.com/ns/shop-tenant/pipelinerun/cart-e2e-1',
    },
    { pipelinerun: 'cart-on-pull-request-1', type: 'build', state: 'Succeeded', seconds: 600 },
  ]);
});

test('a sha that is too long for a label is looked up as it stands there, and shown whole', async () => {
  const sha = '0123456789abcdef'.repeat(4);
  const { cluster, ask } = await createKonfluxScene({ sha });
  cluster.add(pipelineRun({ name: 'cart-1', sha }));

  const { pipelineruns } = await ask<Listed>('konflux_list_pipelineruns');

  expect(pipelineruns).toMatchObject([{ pipelinerun: 'cart-1', sha }]);
  expect(decodeURIComponent(cluster.requests.join())).toContain(
    `pipelinesascode.tekton.dev/sha=${sha.slice(2)}`,
  );
});

test('what is in cluster and archives is shown once, as the cluster has it', async () => {
  const { cluster, archive, results, ask } = await createKonfluxScene();
  cluster.add(pipelineRun({ name: 'both', sha: SHA, condition: FAILED }));
  archive.add(pipelineRun({ name: 'both', sha: SHA, condition: RUNNING, finished: null }));
  archive.add(pipelineRun({ name: 'pruned', sha: SHA }));
  results.add(pipelineRun({ name: 'pruned', sha: SHA }), pipelineRun({ name: 'oldest', sha: SHA }));

  const { pipelineruns, remarks } = await ask<Listed>('konflux_list_pipelineruns');

  expect(pipelineruns.map(({ pipelinerun, state, found_in }) => [pipelinerun, state, found_in])).toEqual([
    ['both', 'Failed', 'cluster prod'],
    ['pruned', 'Succeeded', 'KubeArchive of prod'],
    ['oldest', 'Succeeded', 'Tekton Results of prod'],
  ]);
  expect(remarks).toBeUndefined();
});

test('a run that the archive saw running, and the cluster has no more, is left out and said so', async () => {
  const { archive, ask } = await createKonfluxScene();
  archive.add(
    pipelineRun({ name: 'ghost', sha: SHA, condition: RUNNING, finished: null }),
    // Decided, though nobody wrote down when.
    pipelineRun({ name: 'undated', sha: SHA, condition: FAILED, finished: null }),
  );

  const { pipelineruns, remarks } = await ask<Listed>('konflux_list_pipelineruns');

  expect(pipelineruns).toMatchObject([{ pipelinerun: 'undated' }]);
  expect(remarks).toEqual([expect.stringContaining('1 more in the archive never finished there')]);
});

test('with the cluster away, what the archive saw running is not called a ghost', async () => {
  const { archive, cluster, ask } = await createKonfluxScene();
  cluster.fail({ with: { status: 503 } });
  archive.add(pipelineRun({ name: 'perhaps', sha: SHA, condition: RUNNING, finished: null }));

  const { pipelineruns, remarks } = await ask<Listed>('konflux_list_pipelineruns');

  expect(pipelineruns).toMatchObject([{ pipelinerun: 'perhaps', state: 'Running' }]);
  expect(remarks?.[0]).toMatch(/^Not reached, so something may be missing: cluster prod: GET .* 503/);
});

test('a run asked for by name that only the archive has, still running, is shown and called a ghost', async () => {
  const { archive, cluster, ask } = await createKonfluxScene();
  const childReferences = [{ kind: 'TaskRun', name: 'stale' }];
  const status = { childReferences };
  archive.add(
    pipelineRun({ name: 'ghost', sha: SHA, condition: RUNNING, finished: null, status }),
    taskRun({ name: 'stale', pipelineRun: 'unlabelled', task: 'build', condition: RUNNING, finished: null }),
  );

  const gone = await ask<Listed>('konflux_get_pipelinerun', { pipelinerun: 'ghost' });
  const pod = await ask<Listed>('konflux_get_pod_events', { taskrun: 'stale' });
  cluster.fail({ with: { status: 503 } });
  const perhaps = await ask<Listed>('konflux_get_pipelinerun', { pipelinerun: 'ghost' });

  expect(gone).toMatchObject({ state: 'Running', found_in: 'KubeArchive of prod' });
  expect(gone.remarks).toEqual([
    expect.stringContaining('gone from the cluster: it is not running any more'),
    expect.stringContaining('1 more in the archive never finished there'),
  ]);
  expect(pod.remarks?.[0]).toContain('it is not running any more');
  expect(perhaps.remarks?.join()).not.toContain('not running any more');
});

test('an empty archive answers null for its items, and nothing at all is explained', async () => {
  const { archive, ask } = await createKonfluxScene();

  const { total, note } = await ask<Listed>('konflux_list_pipelineruns');

  expect(archive.requests.length).toBeGreaterThan(0);
  expect(total).toBe(0);
  expect(note).toContain('never started');
});

test('one odd object does not hide the others, and is told', async () => {
  const { cluster, ask } = await createKonfluxScene();
  const odd = pipelineRun({ name: 'odd', sha: SHA });
  cluster.add(
    pipelineRun({ name: 'good', sha: SHA }),
    { ...odd, status: 'not an object' },
    { ...pipelineRun({ name: 'old', sha: SHA }), spec: { timeouts: 'pipeline: 1h0m0s' } },
  );

  const { pipelineruns, remarks } = await ask<Listed>('konflux_list_pipelineruns');

  expect(pipelineruns.map(({ pipelinerun }) => pipelinerun)).toEqual(['good', 'old']);
  expect(remarks).toEqual([
    expect.stringMatching(/1 left out: cluster prod's answer about one of the pipelineruns/),
  ]);
});

test('a record of Tekton Results that can not be decoded does not hide the others', async () => {
  const good = Buffer.from(JSON.stringify(pipelineRun({ name: 'good', sha: SHA }))).toString('base64');
  const records = [{ data: { value: '%%%' } }, { data: null }, { data: { value: good } }];
  const { url } = await startServer((_, response) => answerJson(response, { records }));
  const { ask } = await createKonfluxScene({ cluster: { tektonResultsUrl: url } });

  const { pipelineruns, remarks } = await ask<Listed>('konflux_list_pipelineruns');

  expect(pipelineruns).toMatchObject([{ pipelinerun: 'good' }]);
  expect(remarks).toEqual([
    expect.stringMatching(/left out: Tekton Results of prod's answer about one of the pipelineruns/),
  ]);
});

test('all pages are read, of the cluster and of the archives', async () => {
  const { cluster, archive, results, ask } = await createKonfluxScene();
  const runs = (from: string, count: number): KubeObject[] =>
    Array.from({ length: count }, (_, index) => pipelineRun({ name: `${from}-${index}`, sha: SHA }));
  cluster.add(...runs('c', 250));
  archive.add(...runs('a', 101));
  results.add(...runs('r', 120));

  const { total } = await ask<Listed>('konflux_list_pipelineruns');

  expect(total).toBe(471);
  const limits = archive.requests.map((url) => Number(new URLSearchParams(url.split('?')[1]).get('limit')));
  expect(Math.max(...limits)).toBeLessThanOrEqual(1_000);
});

test('a list that breaks off keeps what was read, and says where', async () => {
  const labels = { 'pipelinesascode.tekton.dev/sha': SHA };
  const { url } = await startServer(({ query }, response) => {
    if (query.get('continue')) return answerJson(response, { message: 'token expired' }, { status: 410 });
    const isBuild = query.get('labelSelector')?.startsWith('pipelinesascode');
    const items = isBuild ? [pipelineRun({ name: 'first', sha: SHA, labels })] : [];
    return answerJson(response, { items, metadata: { continue: isBuild ? 'more' : '' } });
  });
  const broken = await createKonfluxScene({ cluster: { login: { kind: 'token', url, token: 'secret' } } });

  const { total, remarks } = await broken.ask<Listed>('konflux_list_pipelineruns');

  expect(total).toBe(1);
  expect(remarks).toEqual([
    expect.stringMatching(/cluster prod, after the first 1: GET .* 410.*token expired/),
  ]);
});

test('paging ends after 1000, and the answer says so', async () => {
  const { cluster, ask } = await createKonfluxScene();
  cluster.add(
    ...Array.from({ length: 1_100 }, (_, index) => pipelineRun({ name: `run-${index}`, sha: SHA })),
  );

  const { total, remarks } = await ask<Listed>('konflux_list_pipelineruns');

  expect(total).toBe(1_000);
  expect(remarks).toEqual(['cluster prod has more than was read; these are only the first.']);
});

test('runs of the merge request are those of its own project, by any mark they carry', async () => {
  const { cluster, ask } = await createKonfluxScene();
  const pac = 'pipelinesascode.tekton.dev';
  const labels = { [`${pac}/pull-request`]: '7' };
  const run = (name: string, annotations: Record<string, string>, more: Record<string, string> = {}) =>
    pipelineRun({ name, sha: 'c'.repeat(40), labels: { ...labels, ...more }, annotations });
  cluster.add(
    run('by-id', { [`${pac}/target-project-id`]: '42' }),
    run('by-url', { [`${pac}/repo-url`]: 'https://gitlab.example.com/group/sub/app' }),
    run('by-labels', {}, { [`${pac}/url-org`]: 'group-sub', [`${pac}/url-repository`]: 'app' }),
    run('other-id', { [`${pac}/target-project-id`]: '43' }),
    run('other-url', { [`${pac}/repo-url`]: 'https://gitlab.example.com/group/other' }),
    run('nobody-knows', {}),
  );

  const { pipelineruns } = await ask<Listed>('konflux_list_pipelineruns', { of: 'merge_request' });

  expect(pipelineruns.map(({ pipelinerun }) => pipelinerun).toSorted()).toEqual([
    'by-id',
    'by-labels',
    'by-url',
  ]);
});

test.each([
  ['https://gitlab.example.com', 'https://gitlab.example.com/group/sub/app', true],
  ['https://gitlab.example.com', 'https://GitLab.example.com/Group/sub/app.git', true],
  ['https://gitlab.example.com', 'https://gitlab.example.com/group/sub/app.git/', true],
  ['https://gitlab.example.com', 'https://gitlab.example.com/group/sub/app/', true],
  ['https://example.com/gitlab/', 'https://example.com/gitlab/group/sub/app', true],
  ['https://gitlab.example.com', 'https://gitlab.example.com/other/group/sub/app', false],
  ['https://gitlab.example.com', 'https://github.com/group/sub/app', false],
  ['https://example.com/gitlab', 'https://example.com/group/sub/app', false],
])('for a project on %s a run of %s is its own: %s', async (gitlabUrl, repoUrl, isOwn) => {
  const { cluster, ask, call } = await createKonfluxScene({ gitlabUrl });
  const annotations = { 'pipelinesascode.tekton.dev/repo-url': repoUrl };
  cluster.add(pipelineRun({ name: 'run', sha: SHA, annotations }));

  const { total } = await ask<Listed>('konflux_list_pipelineruns');
  const { isError } = await call('konflux_get_pipelinerun', { pipelinerun: 'run' });

  expect({ total, isError }).toEqual({ total: isOwn ? 1 : 0, isError: !isOwn });
});

test.each([
  ['https://internal.example.com/group/sub/app', true],
  ['git@ssh.example.com:group/sub/app.git', true],
  ['https://ssh.example.com.evil.test/group/sub/app', false],
])('with other names of GitLab in the configuration a run of %s is its own: %s', async (repoUrl, isOwn) => {
  const { cluster, ask } = await createKonfluxScene({
    otherHosts: ['internal.example.com', 'ssh.example.com'],
  });
  const annotations = { 'pipelinesascode.tekton.dev/repo-url': repoUrl };
  cluster.add(pipelineRun({ name: 'run', sha: SHA, annotations }));

  expect(await ask<Listed>('konflux_list_pipelineruns')).toMatchObject({ total: isOwn ? 1 : 0 });
});

test("another project's run can not be read by its name, nor anything outside the namespace", async () => {
  const { cluster, call } = await createKonfluxScene();
  const annotations = { 'pipelinesascode.tekton.dev/target-project-id': '43' };
  cluster.add(pipelineRun({ name: 'theirs', annotations }));

  const theirs = await call('konflux_get_pipelinerun', { pipelinerun: 'theirs' });
  const outside = await call('konflux_get_pipelinerun', { pipelinerun: '../../kube-system/pods/x' });

  expect(theirs.result.error).toContain('belongs to another project');
  expect(outside.result.error).toContain('is not the name of a Kubernetes object');
});

test('the tree of a run shows timing, what waited for what, the failing path and what was skipped', async () => {
  const { cluster, ask } = await createKonfluxScene();
  cluster.add(
    pipelineRun({
      name: 'build-1',
      sha: SHA,
      condition: FAILED,
      status: {
        pipelineSpec: {
          tasks: [
            { name: 'init' },
            { name: 'clone', runAfter: ['init'] },
            { name: 'build', params: [{ name: 'dir', value: '$(tasks.clone.results.path)' }] },
            { name: 'scan', runAfter: ['build'] },
          ],
          finally: [{ name: 'summary' }],
        },
        skippedTasks: [{ name: 'scan', reason: 'Parent Tasks were skipped' }],
      },
    }),
    taskRun({ name: 'build-1-init', pipelineRun: 'build-1', task: 'init' }),
    taskRun({ name: 'build-1-clone', pipelineRun: 'build-1', task: 'clone' }),
    taskRun({
      name: 'build-1-build',
      pipelineRun: 'build-1',
      task: 'build',
      condition: { status: 'False', reason: 'Failed', message: '"step-build" exited with code 2' },
    }),
    taskRun({ name: 'build-1-summary', pipelineRun: 'build-1', task: 'summary' }),
  );

  const run = await ask('konflux_get_pipelinerun', { pipelinerun: 'build-1' });

  expect(run).toMatchObject({
    state: 'Failed',
    timeout: '1h0m0s',
    causes: ['build: Failed: "step-build" exited with code 2'],
    failing_path: ['init (Succeeded, 600 s) → clone (Succeeded, 600 s) → build (Failed, 600 s)'],
  });
  expect(run.tasks).toMatchObject([
    { task: 'init', taskrun: 'build-1-init', after: [] },
    { task: 'clone', after: ['init'] },
    { task: 'build', after: ['clone'], state: 'Failed', seconds: 600 },
    { task: 'summary' },
    { task: 'scan', state: 'Skipped', reason: 'Parent Tasks were skipped' },
  ]);
});

test('a pipeline as a chain of very many tasks holds nothing up, and its path is shown from near the end', async () => {
  const { cluster, ask } = await createKonfluxScene();
  const tasks = Array.from({ length: 20_000 }, (_, at) => ({ name: `t${at}`, runAfter: [`t${at - 1}`] }));
  cluster.add(
    pipelineRun({ name: 'chain', sha: SHA, condition: FAILED, status: { pipelineSpec: { tasks } } }),
    taskRun({
      name: 'last',
      pipelineRun: 'chain',
      task: 't19999',
      condition: { status: 'False', reason: 'Failed', message: 'no' },
    }),
  );
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();

  const { failing_path } = await ask<{ failing_path: string[] }>('konflux_get_pipelinerun', {
    pipelinerun: 'chain',
  });

  delay.disable();
  expect(failing_path).toEqual([expect.stringMatching(/^… → t19950 .* → t19999 \(Failed, 600 s\)$/)]);
  expect(delay.max / 1e6).toBeLessThan(2_500);
});

test('of very many tasks that failed the paths of some are shown, and how many there are', async () => {
  const { cluster, ask } = await createKonfluxScene();
  const condition = { status: 'False', reason: 'Failed', message: 'no' };
  const failed = Array.from({ length: 60 }, (_, at) =>
    taskRun({ name: `x-${at}`, pipelineRun: 'wide', task: `t${at}`, condition }),
  );
  cluster.add(pipelineRun({ name: 'wide', sha: SHA, condition: FAILED }), ...failed);

  const { failing_path } = await ask<{ failing_path: string[] }>('konflux_get_pipelinerun', {
    pipelinerun: 'wide',
  });

  expect(failing_path).toHaveLength(51);
  expect(failing_path.at(-1)).toBe('… and 10 more');
});

test('task runs are found by reference when the label does not lead to them, and inside of old data', async () => {
  const { cluster, archive, ask } = await createKonfluxScene();
  cluster.add(
    pipelineRun({
      name: 'mixed',
      sha: SHA,
      status: {
        childReferences: [
          { kind: 'TaskRun', name: 'unlabelled', pipelineTaskName: 'clone' },
          { kind: 'TaskRun', name: 'lost', pipelineTaskName: 'scan' },
        ],
        taskRuns: {
          embedded: {
            pipelineTaskName: 'pull',
            status: {
              podName: 'embedded-pod',
              conditions: [
                {
                  type: 'Succeeded',
                  status: 'Unknown',
                  reason: 'Pending',
                  message:
                    'build step "step-hello" is pending with reason "Back-off pulling image \\"fail\\""',
                },
              ],
            },
          },
        },
      },
    }),
  );
  archive.add(
    taskRun({
      name: 'unlabelled',
      pipelineRun: 'another-name',
      task: 'clone',
    }),
  );

  const { tasks } = await ask<{ tasks: object[] }>('konflux_get_pipelinerun', { pipelinerun: 'mixed' });

  expect(tasks).toEqual([
    expect.objectContaining({ taskrun: 'unlabelled', state: 'Succeeded' }),
    expect.objectContaining({
      taskrun: 'embedded',
      state: 'Pending',
      causes: [expect.stringContaining('an image could not be pulled')],
    }),
    expect.objectContaining({
      taskrun: 'lost',
      state: 'Unknown',
      note: expect.stringContaining('not found'),
    }),
  ]);
});

test('task runs that may not be read one by one are a gap, not absent', async () => {
  const { ask } = await createSceneOfReferences(3, (response) =>
    answerJson(response, { kind: 'Status', message: 'forbidden' }, { status: 403 }),
  );

  const { total, remarks } = await ask<Listed>('konflux_list_taskruns', { pipelinerun: 'run' });

  expect(total).toBe(0);
  expect(remarks).toEqual([
    expect.stringMatching(/something may be missing: TaskRun t-0: cluster prod: GET .* 403.*\(and 2 more\)$/),
  ]);
});

test('of too many references the first are looked up, and the answer says so', async () => {
  const { ask } = await createSceneOfReferences(80, (response, name) =>
    answerJson(response, taskRun({ name, pipelineRun: 'run', task: name })),
  );

  const { total, remarks } = await ask<Listed>('konflux_list_taskruns', { pipelinerun: 'run' });

  expect(total).toBe(50);
  expect(remarks).toEqual([
    'PipelineRun run (80 references without a label, 50 looked up) has more than was read; these are only the first.',
  ]);
});

/** A cluster with a run whose task runs no list leads to. */
async function createSceneOfReferences(
  count: number,
  answerTaskRun: (response: ServerResponse, name: string) => void,
) {
  const childReferences = Array.from({ length: count }, (_, at) => ({ kind: 'TaskRun', name: `t-${at}` }));
  const run = pipelineRun({ name: 'run', sha: SHA, status: { childReferences } });
  const { url } = await startServer(({ path }, response) => {
    if (path.endsWith('/pipelineruns/run')) return answerJson(response, run);
    if (path.endsWith('/taskruns')) return answerJson(response, { items: [] });
    return answerTaskRun(response, path.split('/').at(-1) ?? '');
  });
  return createKonfluxScene({ cluster: { login: { kind: 'token', url, token: 'secret' } } });
}

test('a run that is gone from the cluster is read from the archive, then from Tekton Results', async () => {
  const { archive, results, ask, call } = await createKonfluxScene();
  archive.add(pipelineRun({ name: 'archived', sha: SHA }));
  results.add(pipelineRun({ name: 'recorded', sha: SHA }));

  expect(await ask('konflux_get_pipelinerun', { pipelinerun: 'archived' })).toMatchObject({
    found_in: 'KubeArchive of prod',
  });
  expect(await ask('konflux_get_pipelinerun', { pipelinerun: 'recorded' })).toMatchObject({
    found_in: 'Tekton Results of prod',
  });
  const { result } = await call('konflux_get_pipelinerun', { pipelinerun: 'nowhere' });
  expect(result.error).toContain(
    'There is no PipelineRun nowhere (asked: cluster prod, KubeArchive of prod, Tekton Results of prod)',
  );
});
