import { setTimeout } from 'node:timers/promises';

/** Time as the client sees it; tests bring their own, so that no test has to wait. */
export interface Clock {
  /** Milliseconds that only grow. Not the time of day: that one jumps. */
  now(): number;
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await setTimeout(ms, undefined, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};
