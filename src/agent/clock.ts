/** The time a run may take: most of it to work, the rest for a last turn. */
export interface Clock {
  /** Aborts when the time to work is over; once it is, or once the last turn has come, when all of it is. */
  readonly signal: AbortSignal;
  /** Aborts when all of it is over. */
  readonly endSignal: AbortSignal;
  /** As `signal`, for what should come to its end first: a stop aborts it a while later only. */
  readonly savingSignal: AbortSignal;
  isTimeToWorkOver(): boolean;
  /** All that is left is for the turn that begins now. */
  startLastTurn(): void;
  /** Nobody waits for the run any more, nor for what is still under way. */
  stop(): void;
}

/** Why something under way was given up. */
export class TimeUpError extends Error {
  override readonly name = 'TimeUpError';
}

const OVER = new Error('nobody waits for this run any more');

const LAST_TURN_SHARE = 0.1;
const MAX_LAST_TURN_MS = 120_000;
/** What is being saved when a run is stopped comes to no harm if it is done by then. */
const SAVING_GRACE_MS = 5_000;
/** Timers can not wait for longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function startClock(stopSignal: AbortSignal, maxDurationMs: number | undefined): Clock {
  // Signals of their own: those that `AbortSignal.any` makes are looked up anew each time one is asked.
  const work = new AbortController();
  const end = new AbortController();
  const workSaving = new AbortController();
  const endSaving = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  let isWorkOver = false;
  let isLastTurn = false;
  const after = (waitMs: number, act: () => void): void =>
    void timers.push(setTimeout(act, Math.min(waitMs, MAX_TIMER_MS)));
  const abort = (reason: unknown, ...controllers: AbortController[]): void => {
    for (const controller of controllers) controller.abort(reason);
  };
  const onStop = (): void => {
    abort(stopSignal.reason, work, end);
    after(SAVING_GRACE_MS, () => abort(stopSignal.reason, workSaving, endSaving));
  };
  if (stopSignal.aborted) onStop();
  else stopSignal.addEventListener('abort', onStop, { once: true });
  if (maxDurationMs !== undefined) {
    const timeUp = new TimeUpError('the time for this run is over');
    after(maxDurationMs - Math.min(LAST_TURN_SHARE * maxDurationMs, MAX_LAST_TURN_MS), () => {
      isWorkOver = true;
      abort(timeUp, work, workSaving);
    });
    after(maxDurationMs, () => abort(timeUp, end, endSaving));
  }
  return {
    get signal() {
      return isLastTurn || isWorkOver ? end.signal : work.signal;
    },
    endSignal: end.signal,
    get savingSignal() {
      return isLastTurn || isWorkOver ? endSaving.signal : workSaving.signal;
    },
    isTimeToWorkOver: () => isWorkOver,
    startLastTurn: () => {
      isLastTurn = true;
    },
    stop() {
      stopSignal.removeEventListener('abort', onStop);
      timers.forEach(clearTimeout);
      abort(OVER, work, end);
    },
  };
}
