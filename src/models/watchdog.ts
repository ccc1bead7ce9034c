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
  const silence = new AbortController();
  const timer = setTimeout(() => {
    silence.abort(new ModelError('retry', `the model was silent for ${Math.round(silenceMs / 1000)} s`));
  }, silenceMs);
  const stop = (): void => clearTimeout(timer);
  return {
    signal: AbortSignal.any([signal, silence.signal]),
    heard: () => timer.refresh(),
    stop,
    giveUp: () => {
      stop();
      silence.abort(ENDED);
    },
  };
}

/** Without a reason of its own, each abort would make an error with a stack. */
const ENDED = new Error('the request has ended');

export async function* watched<T>(events: AsyncIterable<T>, { heard }: Watchdog): AsyncGenerator<T> {
  for await (const event of events) {
    heard();
    yield event;
  }
}
