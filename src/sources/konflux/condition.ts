// What became of a run, in one word, from the condition "Succeeded" that Tekton keeps.
import type { Condition, PipelineRun, TaskRun } from './wire.ts';

export type RunState = 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut' | 'Running' | 'Pending' | 'Unknown';

export function succeededOf(conditions: readonly Condition[] | null | undefined): Condition | undefined {
  return conditions?.find(({ type }) => type === 'Succeeded');
}

export function stateOf(conditions: readonly Condition[] | null | undefined): RunState {
  const condition = succeededOf(conditions);
  if (!condition) return 'Unknown';
  const { status, reason, message } = condition;
  // Seen with status True: the run was never let in.
  if (reason === 'ExceededResourceQuota') return 'Failed';
  if (status === 'True') return 'Succeeded';
  if (status !== 'False') return PENDING.test(reason ?? '') ? 'Pending' : 'Running';
  if (CANCELLED.has(reason ?? '')) return 'Cancelled';
  return isTimeout(reason, message) ? 'TimedOut' : 'Failed';
}

export function isTimeout(reason: string | null | undefined, message: string | null | undefined): boolean {
  return /Timeout$/.test(reason ?? '') || /failed to finish within/.test(message ?? '');
}

export function isBad(state: RunState): boolean {
  return state === 'Failed' || state === 'TimedOut' || state === 'Cancelled';
}

/** No end is known of it. */
export function isUnfinished({ status }: PipelineRun | TaskRun): boolean {
  if (status?.completionTime) return false;
  return ['Running', 'Pending', 'Unknown'].includes(stateOf(status?.conditions));
}

/** Reason and message of the condition, as they are. */
export function wordsOf(conditions: readonly Condition[] | null | undefined) {
  const condition = succeededOf(conditions);
  return { reason: condition?.reason ?? null, message: condition?.message ?? null };
}

export function toConditions(conditions: readonly Condition[] | null | undefined) {
  return (conditions ?? []).map(({ type, status, reason, message }) => ({
    type: type ?? null,
    status: status ?? null,
    reason: reason ?? null,
    message: message ?? null,
  }));
}

export function secondsBetween(start: string | null | undefined, end: string | null | undefined) {
  const ms = Date.parse(end ?? '') - Date.parse(start ?? '');
  return Number.isNaN(ms) ? null : Math.round(ms / 1_000);
}

const PENDING = /Pending|PullImage|ImagePull|CreateContainer|ExceededNode|Resolving/i;

export const CANCELLED = new Set([
  'Cancelled',
  'CancelledRunFinally',
  'CancelledRunningFinally',
  'StoppedRunFinally',
  'StoppedRunningFinally',
  'PipelineRunCancelled',
  'TaskRunCancelled',
]);
