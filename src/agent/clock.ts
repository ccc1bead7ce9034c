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
  stop(): void;
}

/** Why something under way was given up. */
export class TimeUpError extends Error {
  override readonly name = 'TimeUpError';
}

const LAST_TURN_SHARE = 0.1;
const MAX_LAST_TURN_MS = 120_000;
/** What is being saved when a run is stopped comes to no harm if it is done by then. */
const SAVING_GRACE_MS = 5_000;
/** Timers can not wait for longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function startClock(stopSignal: AbortSignal, maxDurationMs: number | undefined): Clock {
  const work = new AbortController();
  const all = new AbortController();
  const workSignal = AbortSignal.any([stopSignal, work.signal]);
  const endSignal = AbortSignal.any([stopSignal, all.signal]);
  const graceOver = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  let isLastTurn = false;
  const abortAfter = (waitMs: number, controller: AbortController): void => {
    const abort = (): void => controller.abort(new TimeUpError('the time for this run is over'));
    timers.push(setTimeout(abort, Math.min(waitMs, MAX_TIMER_MS)));
  };
  const onStop = (): void => {
    timers.push(setTimeout(() => graceOver.abort(stopSignal.reason), SAVING_GRACE_MS));
  };
  if (stopSignal.aborted) onStop();
  else stopSignal.addEventListener('abort', onStop, { once: true });
  const workSavingSignal = AbortSignal.any([work.signal, graceOver.signal]);
  const endSavingSignal = AbortSignal.any([all.signal, graceOver.signal]);
  if (maxDurationMs !== undefined) {
    abortAfter(maxDurationMs - Math.min(LAST_TURN_SHARE * maxDurationMs, MAX_LAST_TURN_MS), work);
    abortAfter(maxDurationMs, all);
  }
  return {
    get signal() {
      return isLastTurn || work.signal.aborted ? endSignal : workSignal;
    },
    endSignal,
    get savingSignal() {
      return isLastTurn || work.signal.aborted ? endSavingSignal : workSavingSignal;
    },
    isTimeToWorkOver: () => work.signal.aborted,
    startLastTurn: () => {
      isLastTurn = true;
    },
    stop() {
      stopSignal.removeEventListener('abort', onStop);
      timers.forEach(clearTimeout);
    },
  };
}
