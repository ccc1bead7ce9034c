import { setTimeout as wait } from 'node:timers/promises';
import { type Model, ModelError, type ModelRequest } from '../agent/model.ts';

export interface RetryOptions {
  /** Attempts in all, the first one included. */
  tries?: number;
  baseMs?: number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A longer wait is the business of whoever queues the work: it hears `retryAfterMs`. */
const MAX_WAIT_MS = 60_000;

/** The same model, asked again when the same request may work soon. */
export function withRetry(model: Model, options: RetryOptions = {}): Model {
  const { tries = 4, baseMs = 1000, sleep = sleepUntilAborted } = options;
  return {
    get name() {
      return model.name;
    },
    ...(model.canGoOn && { canGoOn: model.canGoOn }),
    async generate(request: ModelRequest) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await model.generate(request);
        } catch (error) {
          request.signal.throwIfAborted();
          if (!(error instanceof ModelError) || error.kind !== 'retry' || attempt >= tries) throw error;
          const waitMs = error.retryAfterMs ?? backoff(attempt, baseMs);
          if (waitMs > MAX_WAIT_MS) throw error;
          request.onEvent?.({ type: 'retry', model: model.name, attempt, waitMs, reason: error.message });
          await sleep(waitMs, request.signal);
        }
      }
    },
  };
}

/** Doubles each time; the jitter keeps workers that failed together from returning together. */
function backoff(attempt: number, baseMs: number): number {
  const full = Math.min(baseMs * 2 ** (attempt - 1), MAX_WAIT_MS);
  return Math.round(full * (0.5 + Math.random() / 2));
}

export async function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  // Its own error would be an AbortError; a caller expects the reason they gave.
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
