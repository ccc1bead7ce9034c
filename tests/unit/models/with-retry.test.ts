import { describe, expect, test } from 'vitest';
import {
  type Model,
  ModelError,
  type ModelEvent,
  type ModelTurn,
  NO_USAGE,
} from '../../../src/agent/model.ts';
import { withRetry } from '../../../src/models/with-retry.ts';
import { assistant, requestOf, user } from './requests.ts';

const TURN: ModelTurn = { message: assistant('ok'), usage: NO_USAGE, stop: 'end' };
const BUSY = new ModelError('retry', 'busy');

describe('withRetry', () => {
  test('asks again until there is an answer', async () => {
    const { model, asked } = failing(BUSY, BUSY);
    const waits: number[] = [];

    const turn = await withRetry(model, { sleep: async (ms) => void waits.push(ms) }).generate(request());

    expect(turn).toBe(TURN);
    expect(asked()).toBe(3);
    expect(waits[0]).toBeGreaterThanOrEqual(500);
    expect(waits[0]).toBeLessThanOrEqual(1000);
    expect(waits[1]).toBeGreaterThanOrEqual(1000);
    expect(waits[1]).toBeLessThanOrEqual(2000);
  });

  test('gives up after the last try with the last failure', async () => {
    const last = new ModelError('retry', 'still busy');
    const { model, asked } = failing(BUSY, BUSY, BUSY, last);

    await expect(withRetry(model, { sleep: noSleep }).generate(request())).rejects.toBe(last);
    expect(asked()).toBe(4);
  });

  test.each(['switch', 'too-long', 'stop'] as const)('does not repeat what is %s', async (kind) => {
    const error = new ModelError(kind, 'no');
    const { model, asked } = failing(error);

    await expect(withRetry(model, { sleep: noSleep }).generate(request())).rejects.toBe(error);
    expect(asked()).toBe(1);
  });

  test('does not repeat a mistake of its own house', async () => {
    const error = new TypeError('undefined is not a function');
    const { model, asked } = failing(error);

    await expect(withRetry(model, { sleep: noSleep }).generate(request())).rejects.toBe(error);
    expect(asked()).toBe(1);
  });

  test('waits as long as the server asks, and says so', async () => {
    const error = new ModelError('retry', 'slow', { retryAfterMs: 60_000 });
    const { model } = failing(error);
    const waits: number[] = [];
    const events: ModelEvent[] = [];

    await withRetry(model, { sleep: async (ms) => void waits.push(ms) }).generate(
      requestOf([user('why?')], { onEvent: (event) => events.push(event) }),
    );

    expect(waits).toEqual([60_000]);
    expect(events).toEqual([
      { type: 'retry', model: 'fake/model', attempt: 1, waitMs: 60_000, reason: 'slow' },
    ]);
  });

  test('does not sit through a wait that is too long', async () => {
    const error = new ModelError('retry', 'slow', { retryAfterMs: 60_001 });
    const { model, asked } = failing(error);

    await expect(withRetry(model, { sleep: noSleep }).generate(request())).rejects.toBe(error);
    expect(asked()).toBe(1);
  });

  test('stops waiting when aborted, with the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('closed');
    const { model, asked } = failing(new ModelError('retry', 'slow', { retryAfterMs: 59_000 }));

    const failure = withRetry(model).generate(
      requestOf([user('why?')], {
        signal: controller.signal,
        onEvent: () => queueMicrotask(() => controller.abort(reason)),
      }),
    );

    await expect(failure).rejects.toBe(reason);
    expect(asked()).toBe(1);
  });
});

function failing(...errors: Error[]): { model: Model; asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    model: {
      name: 'fake/model',
      async generate() {
        const error = errors[asked];
        asked += 1;
        if (error) throw error;
        return TURN;
      },
    },
  };
}

function request() {
  return requestOf([user('why?')]);
}

async function noSleep(): Promise<void> {}
