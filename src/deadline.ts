import { setTimeout as sleep } from 'node:timers/promises';

/** The outcome of `work`, or a failure that names `what` when it takes longer; the work itself goes on. */
export async function withDeadline<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal, ref: false }).then(() => {
    throw new Error(`${what}: no answer within ${ms} ms`);
  });
  return Promise.race([work, late]).finally(() => timer.abort());
}

/** Does not wait for work that does not listen to its signal. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    const settle =
      <V>(how: (outcome: V) => void) =>
      (outcome: V): void => {
        signal.removeEventListener('abort', onAbort);
        how(outcome);
      };
    // If nobody waits for it any more, nobody hears of its failure either.
    work.then(settle(resolve), settle(reject));
  });
}

/** The outcome of `work` if it comes in time, else this; the work itself goes on. */
export async function orAfter<T, Late>(ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  const timer = new AbortController();
  const tooLate = sleep(ms, late, { signal: timer.signal, ref: false });
  return Promise.race([work, tooLate]).finally(() => timer.abort());
}
