// Asking again where that is safe: after the wait that was asked for, or else one that grows.
import type { Clock } from './clock.ts';
import type { Failure } from './failure.ts';
import type { Limiter } from './limiter.ts';
import { backoffMs, MAX_SLEEP_MS } from './waiting.ts';

/** Constant message, fields beside it. */
export interface HttpLog {
  debug(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

/** The status is that of the service itself. */
export type Try<T> = { kind: 'answered'; value: T } | { kind: 'failed'; failure: Failure; status?: number };

export interface Repeatable {
  /** For messages. */
  what: string;
  signal?: AbortSignal | undefined;
  maxTries?: number | undefined;
  mayRepeat(failure: Failure): boolean;
}

export type Repeat = <T>(asked: Repeatable, tryOnce: () => Promise<Try<T>>) => Promise<T>;

export interface RepeatParts {
  limiter: Limiter;
  clock: Clock;
  /** The service that is asked, for messages. */
  who: string;
  log?: HttpLog | undefined;
}

const MAX_TRIES = 4;

export function createRepeat({ limiter, clock, who, log }: RepeatParts): Repeat {
  return async ({ what, signal, maxTries = MAX_TRIES, mayRepeat }, tryOnce) => {
    for (let attempt = 1; ; attempt += 1) {
      await limiter.take(what, signal);
      const result = await tryOnce();
      if (result.kind === 'answered') return result.value;

      const { failure } = result;
      const waitMs = Math.max(failure.askedMs ?? 0, backoffMs(attempt));
      if (result.status === 429) limiter.pause(waitMs);
      if (attempt === maxTries || waitMs > MAX_SLEEP_MS || !mayRepeat(failure)) throw failure.error;
      log?.warn(
        { request: what, attempt, waitMs, error: failure.error.message },
        `${who} request is repeated`,
      );
      await clock.sleep(waitMs, signal);
    }
  };
}
