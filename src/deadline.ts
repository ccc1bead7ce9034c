import { setTimeout as sleep } from 'node:timers/promises';

/** The outcome of `work`, or a failure that names `what` when it takes longer; the work itself goes on. */
export async function withDeadline<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal, ref: false }).then(() => {
    throw new Error(`${what}: no answer within ${ms} ms`);
  });
  return Promise.race([work, late]).finally(() => timer.abort());
}
