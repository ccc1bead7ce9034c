// What conditions, steps and results say of a failure, in words that name its kind. A log can not say most of it: a
// step that was killed, or a pod that never started, wrote nothing.
import { CANCELLED, isTimeout, stateOf, succeededOf } from './condition.ts';
import { findTestOutput, type TestOutput } from './test-output.ts';
import type { Condition, Step, TaskRun } from './wire.ts';

type TaskRunStatus = NonNullable<TaskRun['status']>;

/** Why a task run failed, or a check in it; empty when nothing did. */
export function causesOfTaskRun(status: TaskRunStatus | null | undefined): string[] {
  const condition = succeededOf(status?.conditions);
  const killed = [...(status?.steps ?? []), ...(status?.sidecars ?? [])].flatMap((step) => causeOfStep(step));
  const check = findTestOutput(status?.results ?? status?.taskResults);
  const own = condition ? causesOfCondition(condition) : [];
  const silent =
    condition && isTimeout(condition.reason, condition.message) && !hasStarted(status)
      ? ['no step of it ever started, so its pod was perhaps never scheduled: see konflux_get_pod_events']
      : [];
  return unique([...own, ...silent, ...killed, ...causeOfCheck(check, status?.conditions)]);
}

/** Of a pipeline run or a task run. */
export function causesOfCondition({ status, reason, message }: Condition): string[] {
  const said = `${reason ?? 'no reason'}: ${message || 'no message'}`;
  const kind = KINDS.find(({ isIt }) => isIt(reason ?? '', message ?? ''));
  if (kind) return [`${kind.words} (${said})`];
  return status === 'False' ? [said] : [];
}

const KINDS: { words: string; isIt: (reason: string, message: string) => boolean }[] = [
  {
    words: 'out of memory (OOM): a step was killed; raise its memory limit or make it use less',
    isIt: (reason, message) => reason === 'StepOOM' || (isPlain(reason) && /OOMKilled/.test(message)),
  },
  { words: 'out of memory (OOM): a sidecar was killed', isIt: (reason) => reason === 'SidecarOOM' },
  {
    words: 'out of memory (OOM): an init container was killed before the steps began',
    isIt: (reason) => reason === 'InitContainerOOM',
  },
  {
    words: 'an init container failed before the steps began',
    isIt: (reason) => reason === 'InitContainerFailed',
  },
  {
    words: 'the pod was evicted from its node: infrastructure, not the change',
    isIt: (reason) => reason === 'PodEvicted',
  },
  { words: 'a sidecar failed', isIt: (reason) => reason === 'SidecarFailed' },
  { words: 'a step failed; its log says why', isIt: (reason) => reason === 'StepFailed' },
  {
    words: 'timeout of the whole pipeline run; what was still running then is the suspect',
    isIt: (reason) => reason === 'PipelineRunTimeout',
  },
  { words: 'timeout of a task', isIt: (reason, message) => isTimeout(reason, message) },
  {
    words: 'an image could not be pulled, so a container never started',
    isIt: (reason, message) =>
      /ImagePull|ErrImage/.test(`${reason} ${message}`) || /pulling image/i.test(message),
  },
  {
    words: 'a container could not be configured: a secret, config map or key that it needs is missing',
    isIt: (reason, message) => /CreateContainerConfigError/.test(`${reason} ${message}`),
  },
  {
    words: 'the quota of the namespace is used up, so a pod could not be created',
    isIt: (reason, message) => reason === 'ExceededResourceQuota' || /exceeded quota/i.test(message),
  },
  {
    words: 'the cluster refused to create the pod',
    isIt: (reason, message) =>
      /PodCreationFailed/.test(reason) || /pods? .{0,400}is forbidden/i.test(message),
  },
  {
    words: 'the pipeline could not be found or resolved, so nothing ran: check its reference',
    isIt: (reason) => /CouldntGet(?:Pipeline|Task)/.test(reason),
  },
  {
    words: 'wrong parameters: the run was refused before anything ran',
    isIt: (reason) => /ValidationFailed|InvalidParam|ParameterMissing|ParameterTypeMismatch/.test(reason),
  },
  { words: 'cancelled by somebody or by a newer commit', isIt: (reason) => CANCELLED.has(reason) },
];

/** Reasons that say no more than that it failed: the message has to. */
function isPlain(reason: string): boolean {
  return reason === '' || reason === 'Failed';
}

function causeOfStep({ name, container, terminated, waiting, terminationReason }: Step): string[] {
  const step = `step ${name ?? container}`;
  if (terminated?.reason === 'OOMKilled' || terminationReason === 'OOMKilled')
    return [`out of memory (OOM): ${step} was killed (OOMKilled, exit code ${terminated?.exitCode ?? '?'})`];
  const [kind] = waiting ? causesOfCondition({ reason: waiting.reason, message: waiting.message }) : [];
  if (kind) return [`${step}: ${kind}`];
  if (terminated && (terminated.exitCode ?? 0) !== 0 && terminated.reason !== 'TaskRunCancelled')
    return [`${step} ended with exit code ${terminated.exitCode} (${terminated.reason ?? 'no reason'})`];
  return [];
}

function causeOfCheck(check: TestOutput | undefined, conditions: readonly Condition[] | null | undefined) {
  if (!check?.failed) return [];
  const although = stateOf(conditions) === 'Succeeded' ? ', although the task run itself succeeded' : '';
  return [`its check failed${although}: TEST_OUTPUT is ${check.result}, ${check.note ?? 'without a note'}`];
}

function hasStarted(status: TaskRunStatus | null | undefined): boolean {
  return (status?.steps ?? []).some(({ running, terminated }) => running || terminated?.startedAt);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
