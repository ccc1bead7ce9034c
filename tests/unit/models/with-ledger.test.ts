import { describe, expect, test } from 'vitest';
import { type Model, ModelError, type ModelEvent, NO_USAGE, type Usage } from '../../../src/agent/model.ts';
import { type Price, toCost, toHighestCost } from '../../../src/models/price.ts';
import { withFallback } from '../../../src/models/with-fallback.ts';
import { withLedger } from '../../../src/models/with-ledger.ts';
import { withRetry } from '../../../src/models/with-retry.ts';
import { assistant, requestOf, user } from './requests.ts';

const PRICE: Price = { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 };
const USAGE: Usage = { inputTokens: 10, cacheReadTokens: 100, cacheWriteTokens: 20, outputTokens: 5 };
const COST = 20 + 10 + 50 + 50;
const BROKEN = new ModelError('retry', 'the stream ended before the answer did');
const REFUSED = new ModelError('retry', 'overloaded', { unbilled: true });

/** Keeps an account with a limit, as a ledger does. */
function account(limit = Number.POSITIVE_INFINITY) {
  const booked: number[] = [];
  const used = (): number => booked.reduce((sum, one) => sum + one, 0);
  return {
    used,
    spentMicroUsd: used,
    leftMicroUsd: async () => limit - used(),
    async reserve(microUsd: number) {
      if (used() + microUsd > limit) throw new ModelError('no-money', 'the limit is reached');
      const index = booked.push(microUsd) - 1;
      return async (real: number) => {
        booked[index] = real;
      };
    },
  };
}

/** Answers, or fails as it is told, one after the other; and says what was set aside while it was asked. */
function vendor(fates: (Error | Usage)[], ledger: { used(): number } = account()) {
  const setAside: number[] = [];
  const model: Model = {
    name: 'vendor/model',
    async generate() {
      setAside.push(ledger.used());
      const fate = fates[setAside.length - 1] ?? USAGE;
      if (fate instanceof Error) throw fate;
      return { message: assistant('ok'), usage: fate, stop: 'end' };
    },
  };
  return { model, setAside };
}

const request = requestOf([user('why?')]);
const highest = toHighestCost(request, 'vendor/model', PRICE);

describe('a call', () => {
  test('can not cost more than all its bytes at the highest price and all the output it may have', () => {
    const bytes = [request.system, JSON.stringify(request.tools), JSON.stringify(request.messages[0])];
    expect(highest).toBeGreaterThanOrEqual(bytes.join('').length * 2.5 + 1234 * 10);
    expect(toHighestCost(request, 'vendor/model', { ...PRICE, cacheRead: 3 })).toBeGreaterThan(highest);
  });

  test('of which only the answer was counted costs the most it may', async () => {
    const ledger = account();
    const { model } = vendor([{ ...NO_USAGE, outputTokens: 5 }], ledger);
    await withLedger(model, { ledger, price: PRICE }).generate(request);
    expect(ledger.used()).toBe(highest);
  });

  test('is not taken for less because the conversation was counted with a shorter system text', () => {
    const counted = { ...assistant('ok'), size: { tokens: 10_000, model: 'vendor/model' } };
    const messages = [user('why?'), counted, user('and?')];
    const system = 'New words. '.repeat(100);
    expect(toHighestCost(requestOf(messages, { system }), 'vendor/model', PRICE)).toBeGreaterThan(
      (10_000 + system.length) * 2.5 + 1234 * 10,
    );
  });

  test('costs what was used, in whole millionths of a dollar, never less than the vendor asks', () => {
    expect(toCost(USAGE, PRICE)).toBe(COST);
    expect(toCost({ ...NO_USAGE, cacheReadTokens: 1 }, PRICE)).toBe(1);
    // 0.1 + 0.2 is a little more than 0.3.
    expect(toCost({ ...NO_USAGE, cacheReadTokens: 10 }, { ...PRICE, cacheRead: 0.1 + 0.2 })).toBe(3);
  });

  test('is set aside in full while it is made, and then counts as what it cost', async () => {
    const ledger = account();
    const { model, setAside } = vendor([USAGE], ledger);

    const turn = await withLedger(model, { ledger, price: PRICE }).generate(request);

    expect(turn.usage).toBe(USAGE);
    expect(setAside).toEqual([highest]);
    expect(ledger.used()).toBe(COST);
  });

  test.each([
    ['that was refused before the model began', REFUSED, 0],
    ['that broke off', BROKEN, highest],
    ['that was aborted', new Error('the merge request was closed'), highest],
    ['of a server that does not count', NO_USAGE, highest],
  ])('%s counts as it may be billed', async (_what, fate, cost) => {
    const ledger = account();
    const { model } = vendor([fate], ledger);

    const outcome = await withLedger(model, { ledger, price: PRICE })
      .generate(request)
      .catch((error: unknown) => error);

    expect(ledger.used()).toBe(cost);
    if (fate instanceof Error) expect(outcome).toBe(fate);
  });

  test('that is not wanted any more is neither booked nor made', async () => {
    const ledger = account();
    const { model, setAside } = vendor([], ledger);
    const reason = new Error('too late');

    const failure = withLedger(model, { ledger, price: PRICE }).generate({
      ...request,
      signal: AbortSignal.abort(reason),
    });

    await expect(failure).rejects.toBe(reason);
    expect([ledger.used(), setAside]).toEqual([0, []]);
  });

  test('of a model that costs nothing is always allowed', async () => {
    const ledger = account(0);
    const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const { model } = vendor([]);

    await expect(withLedger(model, { ledger, price: free }).generate(request)).resolves.toBeDefined();
  });
});

test('every try is booked by itself', async () => {
  const ledger = account();
  const { model, setAside } = vendor([BROKEN, REFUSED, USAGE], ledger);

  await withRetry(withLedger(model, { ledger, price: PRICE }), { sleep: async () => {} }).generate(request);

  expect(setAside).toEqual([highest, 2 * highest, 2 * highest]);
  expect(ledger.used()).toBe(highest + COST);
});

test('without money nobody is asked, nothing is repeated, and nobody else is tried', async () => {
  const ledger = account(highest - 1);
  const { model: one, setAside: ofOne } = vendor([]);
  const { model: two, setAside: ofTwo } = vendor([]);
  const events: ModelEvent[] = [];
  const chain = withFallback(
    [one, two].map((model) => withRetry(withLedger(model, { ledger, price: PRICE }))),
  );

  const failure = chain.generate({ ...request, onEvent: (event) => events.push(event) });

  await expect(failure).rejects.toMatchObject({ name: 'ModelError', kind: 'no-money' });
  expect([ofOne, ofTwo, events]).toEqual([[], [], []]);
});

test('a model that fails uses up money, which the next one of the chain then lacks', async () => {
  const ledger = account(2 * highest);
  const { model: one } = vendor([BROKEN, BROKEN], ledger);
  const { model: two, setAside } = vendor([], ledger);
  const book = (model: Model) => withLedger(model, { ledger, price: PRICE });
  const chain = withFallback([withRetry(book(one), { tries: 2, sleep: async () => {} }), book(two)]);

  await expect(chain.generate(request)).rejects.toMatchObject({ kind: 'no-money' });
  expect(setAside).toEqual([]);
});
