/** The time a run may take: most of it to work, the rest for a last turn. */
export interface Clock {
  /** Aborts when the time to work is over; once it is, or once the last turn has come, when all of it is. */
  readonly signal: AbortSignal;
  /** Aborts when all of it is over. */
  readonly endSignal: AbortSignal;
  /** As `signal`, but of the time alone: a stop does not abort it. */
  readonly timeSignal: AbortSignal;
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
/** Timers can not wait for longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function startClock(stopSignal: AbortSignal, maxDurationMs: number | undefined): Clock {
  const work = new AbortController();
  const all = new AbortController();
  const workSignal = AbortSignal.any([stopSignal, work.signal]);
  const endSignal = AbortSignal.any([stopSignal, all.signal]);
  const timers: NodeJS.Timeout[] = [];
  let isLastTurn = false;
  const abortAfter = (waitMs: number, controller: AbortController): void => {
    const abort = (): void => controller.abort(new TimeUpError('the time for this run is over'));
    timers.push(setTimeout(abort, Math.min(waitMs, MAX_TIMER_MS)));
  };
  if (maxDurationMs !== undefined) {
    abortAfter(maxDurationMs - Math.min(LAST_TURN_SHARE * maxDurationMs, MAX_LAST_TURN_MS), work);
    abortAfter(maxDurationMs, all);
  }
  return {
    get signal() {
      return isLastTurn || work.signal.aborted ? endSignal : workSignal;
    },
    endSignal,
    get timeSignal() {
      return isLastTurn || work.signal.aborted ? all.signal : work.signal;
    },
    isTimeToWorkOver: () => work.signal.aborted,
    startLastTurn: () => {
      isLastTurn = true;
    },
    stop: () => timers.forEach(clearTimeout),
  };
}
