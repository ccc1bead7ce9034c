import { ModelError } from '../agent/model.ts';

export interface Watchdog {
  /** Aborted by the caller, with the caller's reason, or by silence, with a `ModelError`. */
  signal: AbortSignal;
  /** Something came: the silence starts anew. */
  heard(): void;
  /** Ends the watch. */
  stop(): void;
  /** Ends the watch and whatever is left of the request. */
  giveUp(): void;
}

/** Ends a request that has gone silent: an SDK watches only until the first byte, or the answer as a whole. */
export function createWatchdog(signal: AbortSignal, silenceMs: number): Watchdog {
  const ending = new AbortController();
  const timer = setTimeout(() => {
    ending.abort(new ModelError('retry', `the model was silent for ${Math.round(silenceMs / 1000)} s`));
  }, silenceMs);
  const onAbort = (): void => ending.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const stop = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
  return {
    signal: ending.signal,
    heard: () => timer.refresh(),
    stop,
    giveUp: () => {
      stop();
      ending.abort(ENDED);
    },
  };
}

/** Without a reason of its own, each abort would make an error with a stack. */
const ENDED = new Error('the request has ended');

/** As they are, with the silence starting anew whenever the next one is waited for. */
export function watched<T>(events: AsyncIterable<T>, { heard }: Watchdog): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = events[Symbol.asyncIterator]();
      return {
        next() {
          heard();
          return iterator.next();
        },
        return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
