import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createWatchdog, watched } from '../../../src/models/watchdog.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

describe('the watchdog', () => {
  test('ends a request that is silent for too long', () => {
    const { signal } = createWatchdog(never, 1000);

    vi.advanceTimersByTime(999);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);

    expect(signal.reason).toMatchObject({ kind: 'retry', message: 'the model was silent for 1 s' });
  });

  test('lets a slow model write as long as it writes', async () => {
    const watchdog = createWatchdog(never, 1000);
    async function* slowly() {
      for (const piece of ['a', 'b', 'c']) {
        vi.advanceTimersByTime(900);
        yield piece;
      }
    }

    expect(await Array.fromAsync(watched(slowly(), watchdog))).toEqual(['a', 'b', 'c']);
    expect(watchdog.signal.aborted).toBe(false);
  });

  test('passes on the reason of the caller', () => {
    const reason = new Error('closed');

    expect(createWatchdog(AbortSignal.abort(reason), 1000).signal.reason).toBe(reason);
  });

  test('leaves nothing behind when the request is given up', () => {
    const watchdog = createWatchdog(never, 1000);

    watchdog.giveUp();

    expect(vi.getTimerCount()).toBe(0);
    expect(watchdog.signal.aborted).toBe(true);
  });
});
