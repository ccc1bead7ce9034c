import { secondsBetween } from './condition.ts';
import { withoutNulls } from './run-summary.ts';
import type { ContainerState, Step } from './wire.ts';

export function toStepSummary(step: Step) {
  return {
    step: step.name ?? step.container ?? null,
    container: step.container ?? null,
    ...toStateSummary(step),
    ...withoutNulls({ termination_reason: step.terminationReason }),
  };
}

/** What a container does or did; messages of a step are Tekton's own results, which are shown elsewhere. */
export function toStateSummary({ terminated, waiting, running }: ContainerState) {
  if (terminated) {
    const { exitCode, reason, message, startedAt, finishedAt } = terminated;
    return {
      state: 'terminated',
      exit_code: exitCode ?? null,
      reason: reason ?? null,
      seconds: secondsBetween(startedAt, finishedAt),
      ...(message && !message.startsWith('[{') && { message }),
    };
  }
  if (waiting) return { state: 'waiting', reason: waiting.reason ?? null, message: waiting.message ?? null };
  return { state: running ? 'running' : 'unknown' };
}
