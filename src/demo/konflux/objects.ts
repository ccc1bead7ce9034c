// Objects of Konflux in the shapes of its API, with what matters to a reader of failures.
export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    creationTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: { kind: string; name: string; uid: string }[];
  };
  [part: string]: unknown;
};

export type NewPipelineRun = {
  name: string;
  sha?: string;
  type?: 'build' | 'test' | 'release';
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** Of the condition "Succeeded". */
  condition?: Partial<Condition>;
  created?: string;
  finished?: string | null;
  tasks?: { name: string; runAfter?: string[] }[];
  status?: Record<string, unknown>;
};

export type Condition = { status: string; reason: string; message: string };

const STARTED = '2026-11-18T09:00:00Z';
const FINISHED = '2026-11-18T09:10:00Z';

export function pipelineRun(input: NewPipelineRun): KubeObject {
  const { name, sha, type = 'build', created = STARTED, finished = FINISHED } = input;
  const prefix = type === 'build' ? 'pipelinesascode.tekton.dev' : 'pac.test.appstudio.openshift.io';
  return {
    apiVersion: 'tekton.dev/v1',
    kind: 'PipelineRun',
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: created,
      labels: {
        'pipelines.appstudio.openshift.io/type': type,
        'appstudio.openshift.io/application': 'shop',
        'appstudio.openshift.io/component': 'cart',
        ...(sha !== undefined && { [`${prefix}/sha`]: sha.length >= 63 ? sha.slice(-62) : sha }),
        ...input.labels,
      },
      annotations: { ...(sha !== undefined && { [`${prefix}/sha`]: sha }), ...input.annotations },
    },
    spec: { timeouts: { pipeline: '1h0m0s' } },
    status: {
      startTime: created,
      ...(finished !== null && { completionTime: finished }),
      conditions: [toCondition(input.condition)],
      ...(input.tasks && { pipelineSpec: { tasks: input.tasks } }),
      ...input.status,
    },
  };
}

export type NewTaskRun = {
  name: string;
  pipelineRun: string;
  task: string;
  condition?: Partial<Condition>;
  finished?: string | null;
  /** Containers `step-<name>`. */
  steps?: { name: string; [state: string]: unknown }[];
  results?: { name: string; value: unknown }[];
  pod?: string | null;
  labels?: Record<string, string>;
  status?: Record<string, unknown>;
};

export function taskRun(input: NewTaskRun): KubeObject {
  const { name, pipelineRun: owner, task, finished = FINISHED, pod = `${name}-pod` } = input;
  return {
    apiVersion: 'tekton.dev/v1',
    kind: 'TaskRun',
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: STARTED,
      labels: { 'tekton.dev/pipelineRun': owner, 'tekton.dev/pipelineTask': task, ...input.labels },
      ownerReferences: [{ kind: 'PipelineRun', name: owner, uid: `uid-${owner}` }],
    },
    spec: { timeout: '1h0m0s' },
    status: {
      startTime: STARTED,
      ...(finished !== null && { completionTime: finished }),
      ...(pod !== null && { podName: pod }),
      conditions: [toCondition(input.condition)],
      steps: (input.steps ?? []).map((step) => ({ container: `step-${step.name}`, ...step })),
      ...(input.results && { results: input.results }),
      ...input.status,
    },
  };
}

export const ENDED_WELL = { terminated: { exitCode: 0, reason: 'Completed', startedAt: STARTED } };

export function endedBadly(reason = 'Error', exitCode = 1) {
  return { terminated: { exitCode, reason, startedAt: STARTED, finishedAt: FINISHED } };
}

export function testOutput(result: string, note: string) {
  const value = JSON.stringify({
    result,
    timestamp: '1763456789',
    note,
    successes: 3,
    failures: 1,
    warnings: 0,
  });
  return { name: 'TEST_OUTPUT', value: `${value}\n` };
}

function toCondition(condition: Partial<Condition> = {}) {
  return { type: 'Succeeded', status: 'True', reason: 'Succeeded', message: '', ...condition };
}
