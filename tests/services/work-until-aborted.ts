import { untilAborted } from '../../src/deadline.ts';

/** A job that takes for ever, unless it is told to stop, perhaps before it begins. */
export async function workUntilAborted(signal: AbortSignal): Promise<never> {
  return untilAborted(new Promise<never>(() => undefined), signal);
}
