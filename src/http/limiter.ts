import { addAbortListener } from 'node:events';
import { RetryableError } from '../errors.ts';
import type { Clock } from './clock.ts';
import { MAX_SLEEP_MS } from './waiting.ts';

export interface Limiter {
  /** Waits for its turn, first come first served; rejects with the signal's reason when aborted. */
  take(what: string, signal?: AbortSignal): Promise<void>;
  /** Holds everybody back, because the other side asked for it. */
  pause(ms: number): void;
}

/** Lets at most `maxRequestsPerMinute` through in any minute, evenly spread after a small burst. */
export function createLimiter(maxRequestsPerMinute: number, clock: Clock, who: string): Limiter {
  const burst = Math.max(1, Math.floor(maxRequestsPerMinute / 10));
  // The burst is taken off the rate, so that burst and steady flow together stay below the limit.
  const intervalMs = Math.ceil(60_000 / (maxRequestsPerMinute - burst + 1));
  let nextSlotAt = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let lastInLine: Promise<void> = Promise.resolve();

  async function waitForSlot(what: string, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const now = clock.now();
      if (pausedUntil - now > MAX_SLEEP_MS) throw toPauseError(what, who, pausedUntil - now);
      const waitMs = Math.max(pausedUntil, nextSlotAt - (burst - 1) * intervalMs) - now;
      if (waitMs <= 0) {
        nextSlotAt = Math.max(nextSlotAt, now) + intervalMs;
        return;
      }
      await clock.sleep(waitMs, signal);
    }
  }

  return {
    take(what, signal) {
      const turn = lastInLine.then(() => waitForSlot(what, signal));
      lastInLine = turn.catch(() => undefined);
      return leaveOnAbort(turn, signal);
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
    },
  };
}

function toPauseError(what: string, who: string, retryAfterMs: number): RetryableError {
  const seconds = Math.ceil(retryAfterMs / 1000);
  return new RetryableError(`${what} was not sent: ${who} asked for a pause of ${seconds} s more`, {
    retryAfterMs,
  });
}

/** Whoever is aborted in the middle of the line does not have to wait for the ones before. */
function leaveOnAbort(turn: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return turn;
  return new Promise((resolve, reject) => {
    const listener = addAbortListener(signal, () => reject(signal.reason));
    turn.then(resolve, reject).finally(() => listener[Symbol.dispose]());
  });
}
