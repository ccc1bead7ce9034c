// Every kind of failure that Konflux is known for: the tools' own words must name it.
import { describe, expect, test } from 'vitest';
import {
  type Condition,
  ENDED_WELL,
  endedBadly,
  type KubeObject,
  type NewTaskRun,
  pipelineRun,
  taskRun,
  testOutput,
} from '../../../src/demo/konflux/objects.ts';
import { createSourceScene } from './gitlab-scene.ts';
import { createKonfluxScene, SHA } from './konflux-scene.ts';

const RUN = 'cart-on-pull-request-x1';
const TASKS_FAILED = { status: 'False', reason: 'Failed', message: 'Tasks Completed: 2 (Failed: 1)' };

interface Kind {
  kind: string;
  /** Of the pipeline run. */
  run?: Partial<Condition>;
  annotations?: Record<string, string>;
  type?: 'build' | 'release';
  task?: Partial<NewTaskRun> & { task: string };
  log?: { container: string; text: string };
  /** What the answers together must say. */
  names: RegExp[];
}

const failed = (reason: string, message: string): Partial<Condition> => ({
  status: 'False',
  reason,
  message,
});

const KINDS: Kind[] = [
  {
    kind: 'OOM (step), older Tekton',
    task: {
      task: 'clair-scan',
      condition: failed('Failed', 'OOMKilled'),
      steps: [{ name: 'get', ...endedBadly('OOMKilled', 137) }],
    },
    names: [
      /clair-scan: out of memory \(OOM\): a step was killed/,
      /step get was killed \(OOMKilled, exit code 137\)/,
    ],
  },
  {
    kind: 'OOM (step), newer Tekton',
    task: { task: 'build', condition: failed('StepOOM', '"step-build" was OOM killed') },
    names: [/build: out of memory \(OOM\): a step was killed/],
  },
  {
    kind: 'OOM in prefetch',
    task: {
      task: 'prefetch-dependencies',
      condition: failed('Failed', '"step-prefetch-dependencies" exited with code 1'),
      steps: [{ name: 'prefetch-dependencies', ...endedBadly() }],
    },
    log: {
      container: 'step-prefetch-dependencies',
      text: 'INFO fetching\nError: hermeto fetch-deps command failed: signal: killed\n',
    },
    names: [
      /hermeto fetch-deps command failed: signal: killed/,
      /line 3: out of memory \(OOM\), most likely/,
    ],
  },
  ...(
    [
      ['SidecarOOM', /out of memory \(OOM\): a sidecar was killed/],
      ['InitContainerOOM', /out of memory \(OOM\): an init container was killed/],
      ['InitContainerFailed', /an init container failed/],
      ['PodEvicted', /the pod was evicted from its node/],
      ['SidecarFailed', /a sidecar failed/],
      ['StepFailed', /a step failed/],
    ] as const
  ).map(([reason, words]) => ({
    kind: `OOM in sidecar/init: ${reason}`,
    task: { task: 'build', condition: failed(reason, 'see the pod') },
    names: [words, new RegExp(`${reason}: see the pod`)],
  })),
  {
    kind: 'Pipeline timeout',
    run: failed('PipelineRunTimeout', `PipelineRun "${RUN}" failed to finish within "1h0m0s"`),
    names: [
      /timeout of the whole pipeline run/,
      /failed to finish within \\"1h0m0s\\"/,
      /"state":"TimedOut"/,
    ],
  },
  {
    kind: 'Task timeout of a pod that never started',
    task: {
      task: 'build',
      condition: failed('TaskRunTimeout', 'TaskRun "x" failed to finish within "1m0s"'),
    },
    names: [/build: timeout of a task/, /no step of it ever started/, /konflux_get_pod_events/],
  },
  {
    kind: 'clair-scan hang',
    run: failed('PipelineRunTimeout', `PipelineRun "${RUN}" failed to finish within "1h0m0s"`),
    task: {
      task: 'clair-scan',
      condition: failed(
        'TaskRunCancelled',
        'TaskRun cancelled as the PipelineRun it belongs to has timed out.',
      ),
    },
    names: [/clair-scan was still running when the time of the pipeline run was up/],
  },
  {
    kind: 'Disk full',
    task: {
      task: 'clone-repository',
      condition: failed('Failed', '"step-clone" exited with code 128'),
      steps: [{ name: 'clone', ...endedBadly('Error', 128) }],
    },
    log: { container: 'step-clone', text: 'fatal: write error: No space left on device\n' },
    names: [/No space left on device/, /the disk is full/],
  },
  {
    kind: 'Image pull',
    task: {
      task: 'build',
      condition: failed('TaskRunImagePullFailed', 'the step "build" failed to pull the image'),
    },
    names: [/an image could not be pulled/],
  },
  {
    kind: 'Image pull, older Tekton',
    run: { status: 'Unknown', reason: 'Running', message: 'Not all Tasks have finished' },
    task: {
      task: 'build',
      finished: null,
      condition: { status: 'Unknown', reason: 'Pending', message: 'Back-off pulling image "quay.io/x"' },
    },
    names: [/build: an image could not be pulled/, /"state":"Pending"/],
  },
  {
    kind: 'Config error',
    task: { task: 'build', condition: failed('CreateContainerConfigError', 'secret "registry" not found') },
    names: [/a container could not be configured: a secret/],
  },
  {
    kind: 'Quota',
    run: { status: 'True', reason: 'ExceededResourceQuota', message: 'All Tasks have completed executing' },
    names: [/the quota of the namespace is used up/, /"state":"Failed"/],
  },
  {
    kind: 'Quota, pod creation refused',
    task: {
      task: 'build',
      condition: failed('PodCreationFailed', 'pods "x" is forbidden: exceeded quota: compute'),
    },
    names: [/the quota of the namespace is used up/],
  },
  {
    kind: 'Pipeline not resolvable',
    run: failed('CouldntGetPipeline', 'Error retrieving pipeline for pipelinerun'),
    names: [/the pipeline could not be found or resolved, so nothing ran/],
  },
  {
    kind: 'Bad params',
    task: {
      task: 'build',
      pod: null,
      condition: failed('TaskRunValidationFailed', 'missing values for these params: [appName]'),
    },
    names: [/wrong parameters: the run was refused/, /\[appName\]/],
  },
  ...['Cancelled', 'CancelledRunFinally', 'StoppedRunFinally'].map((reason) => ({
    kind: `Cancelled: ${reason}`,
    run: failed(reason, `PipelineRun "${RUN}" was cancelled`),
    names: [/cancelled by somebody or by a newer commit/, /"state":"Cancelled"/],
  })),
  {
    kind: 'Cancelled: TaskRunCancelled',
    task: { task: 'build', condition: failed('TaskRunCancelled', 'TaskRun "x" was cancelled') },
    names: [/build: cancelled by somebody/],
  },
  {
    kind: 'Registry auth',
    annotations: { 'chains.tekton.dev/signed': 'failed' },
    task: {
      task: 'push',
      condition: failed('Failed', '"step-push" exited with code 1'),
      steps: [{ name: 'push', ...endedBadly() }],
    },
    log: {
      container: 'step-push',
      text: 'PUT quay.io: UNAUTHORIZED: access to the requested resource is not authorized',
    },
    names: [/Tekton Chains could not sign/, /UNAUTHORIZED: access/, /the registry refuses the credentials/],
  },
  {
    kind: 'Policy (Enterprise Contract / Conforma)',
    run: { reason: 'Completed', message: 'Tasks Completed: 1 (Failed: 0)' },
    task: {
      task: 'verify',
      results: [testOutput('FAILURE', 'Policy violated')],
      steps: [{ name: 'assert', ...ENDED_WELL }],
    },
    names: [
      /verify: its check failed, although the task run itself succeeded: TEST_OUTPUT is FAILURE, Policy violated/,
    ],
  },
  {
    kind: 'Policy task timeout',
    type: 'release',
    task: {
      task: 'verify-enterprise-contract',
      condition: failed('TaskRunTimeout', 'TaskRun "managed-verify" failed to finish within "4h0m0s"'),
      steps: [{ name: 'validate', ...endedBadly('TaskRunTimeout') }],
    },
    names: [/verify-enterprise-contract: timeout of a task/, /4h0m0s/],
  },
];

describe.each(KINDS)('$kind', (kind) => {
  test('is named by what the tools answer', async () => {
    const { cluster, ask } = await createKonfluxScene();
    cluster.add(...toObjects(kind));
    if (kind.log) cluster.setLog('x1-task-pod', kind.log.container, kind.log.text);

    const said = [JSON.stringify(await ask('konflux_get_pipelinerun', { pipelinerun: RUN }))];
    if (kind.task) said.push(JSON.stringify(await ask('konflux_list_taskruns', { pipelinerun: RUN })));
    if (kind.log) said.push(String(await ask<unknown>('konflux_get_taskrun_log', { taskrun: 'x1-task' })));

    for (const name of kind.names) expect(said.join('\n')).toMatch(name);
  });
});

describe('clamav-scan timeout', () => {
  const STATUS = 'Red Hat Konflux/cart-on-pull-request has failed.';

  test('is a commit status that only says that it failed, and a run that says why', async () => {
    const gitlab = await createSourceScene();
    const { cluster, ask } = await createKonfluxScene({ sha: gitlab.sha });
    gitlab.gitlab.addCommitStatus({
      projectId: gitlab.project.id,
      sha: gitlab.sha,
      name: 'Red Hat Konflux / cart-on-pull-request',
      state: 'failed',
      description: STATUS,
      targetUrl: `https://konflux.example.com/ns/team/pipelinerun/${RUN}`,
    });
    const owner = pipelineRun({ name: RUN, sha: gitlab.sha, condition: TASKS_FAILED });
    const scan = {
      task: 'clamav-scan',
      condition: failed('TaskRunTimeout', 'TaskRun "cart-clamav" failed to finish within "1h0m0s"'),
      steps: [{ name: 'scan', running: { startedAt: '2026-11-18T09:00:00Z' } }],
    };
    cluster.add(owner, taskRun({ name: 'x1-task', pipelineRun: RUN, ...scan }));

    const { external } = await gitlab.ask<{ external: { description: string; target_url: string }[] }>(
      'gitlab_list_commit_statuses',
    );
    const pipelinerun = external[0]?.target_url.split('/').at(-1);
    const run = await ask('konflux_get_pipelinerun', { pipelinerun });

    expect(external).toMatchObject([{ status: 'failed', description: STATUS }]);
    expect(JSON.stringify(run)).toMatch(/clamav-scan: timeout of a task/);
  });
});

function toObjects({ run = TASKS_FAILED, task, annotations = {}, type = 'build' }: Kind): KubeObject[] {
  const owner = pipelineRun({ name: RUN, sha: SHA, type, condition: run, annotations });
  return task ? [owner, taskRun({ name: 'x1-task', pipelineRun: RUN, ...task })] : [owner];
}
