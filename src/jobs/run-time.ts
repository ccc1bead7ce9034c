/** How the time a run may take is shared out: nearly all to the loop, the rest to what makes a note of its answer. */
export interface RunTime {
  /** What the loop may take from now on. */
  loopMs(): number;
  /** How long the answer may be checked from now on. */
  checkMs(): number;
  /** How long the note waits for the session to be saved. */
  savingMs(): number;
}

const REST_SHARE = 0.1;
const MAX_REST_MS = 60_000;
/** Nobody who waits for a note waits for more than that because of its session. */
const MAX_SAVING_MS = 10_000;

export function startRunTime(totalMs: number): RunTime {
  const endsAt = performance.now() + totalMs;
  const restMs = Math.min(REST_SHARE * totalMs, MAX_REST_MS);
  const until = (beforeEndMs: number): number => Math.max(0, endsAt - beforeEndMs - performance.now());
  return {
    loopMs: () => until(restMs),
    checkMs: () => until(0.75 * restMs),
    // The last half is for posting it.
    savingMs: () => Math.min(MAX_SAVING_MS, until(0.5 * restMs)),
  };
}
