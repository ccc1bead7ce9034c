import type { Hook } from './hook.ts';

/** GitLab stops calling a hook that keeps failing: for a while from the fourth time, for good at the fortieth. */
export function recordOutcome(hook: Hook, ok: boolean, now: Date): void {
  if (ok) {
    hook.recentFailures = 0;
    hook.disabledUntil = null;
    return;
  }
  hook.recentFailures += 1;
  if (hook.recentFailures >= FAILURES_FOR_GOOD) hook.permanentlyDisabled = true;
  if (hook.recentFailures >= FAILURES_FOR_A_WHILE) {
    const doublings = hook.recentFailures - FAILURES_FOR_A_WHILE;
    hook.disabledUntil = new Date(now.getTime() + Math.min(LONGEST_MS, SHORTEST_MS * 2 ** doublings));
  }
}

export function isEnabled(hook: Hook, now: Date): boolean {
  if (hook.permanentlyDisabled) return false;
  return hook.disabledUntil === null || hook.disabledUntil < now;
}

const FAILURES_FOR_A_WHILE = 4;
const FAILURES_FOR_GOOD = 40;
const SHORTEST_MS = 60_000;
const LONGEST_MS = 24 * 60 * 60_000;
