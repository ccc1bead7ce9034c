import { describe, expect, test } from 'vitest';
import { type Model, ModelError, type ModelEvent, NO_USAGE } from '../../../src/agent/model.ts';
import { withFallback } from '../../../src/models/with-fallback.ts';
import { assistant, requestOf, result, user } from './requests.ts';

const AWAY = new ModelError('retry', 'one is away');
const NO_KEY = new ModelError('switch', 'one has no key');

describe('withFallback', () => {
  test.each([AWAY, NO_KEY])(
    'asks the next model when the first can not ($kind), and says so',
    async (error) => {
      const events: ModelEvent[] = [];
      const chain = withFallback([failing('one', error), answering('two')]);
      const turn = await chain.generate(
        requestOf([user('why?')], { onEvent: (event) => events.push(event) }),
      );
      expect(turn.message.content).toBe('from two');
      expect(chain.name).toBe('two');
      expect(events).toEqual([{ type: 'fallback', from: 'one', to: 'two', reason: error.message }]);
    },
  );

  test('stays with the one that answered', async () => {
    const one = failing('one', AWAY);
    const chain = withFallback([one, answering('two')]);
    await chain.generate(request());
    await chain.generate(request());
    expect(one.asked()).toBe(1);
  });

  test.each(['stop', 'too-long'] as const)('does not hand on a request that is %s', async (kind) => {
    const error = new ModelError(kind, 'no');
    await expect(withFallback([failing('one', error), answering('two')]).generate(request())).rejects.toBe(
      error,
    );
  });

  test('asks nobody who may count more tokens than the limit allows', async () => {
    const counted = { ...assistant('Looking.', 'a'), size: { tokens: 90, model: 'one' } };
    const messages = [user('字'.repeat(300)), counted, result('a')];
    const two = answering('two');
    const chain = withFallback([failing('one', AWAY), two]);
    await expect(chain.generate(requestOf(messages, { contextLimit: 1_000 }))).rejects.toMatchObject({
      kind: 'too-long',
      unbilled: true,
      message: 'The conversation may be more than 1000 tokens for two',
    });
    const turn = await chain.generate(requestOf(messages, { contextLimit: 2_000 }));
    expect(turn.message.content).toBe('from two');
  });

  test('fails with all reasons, and for a while only if one of them may come back', async () => {
    const later = new ModelError('retry', 'one is busy', { retryAfterMs: 90_000 });
    const gone = new ModelError('switch', 'two is gone');
    await expect(
      withFallback([failing('one', later), failing('two', gone)]).generate(request()),
    ).rejects.toMatchObject({ kind: 'retry', retryAfterMs: 90_000, message: 'one is busy; two is gone' });
    await expect(
      withFallback([failing('one', NO_KEY), failing('two', gone)]).generate(request()),
    ).rejects.toMatchObject({ kind: 'switch', message: 'one has no key; two is gone' });
  });

  test('lets go at once when aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('closed');
    const two = failing('two', AWAY);
    const one: Model = {
      name: 'one',
      async generate() {
        controller.abort(reason);
        throw AWAY;
      },
    };
    const failure = withFallback([one, two]).generate(
      requestOf([user('why?')], { signal: controller.signal }),
    );
    await expect(failure).rejects.toBe(reason);
    expect(two.asked()).toBe(0);
  });
});

function failing(name: string, error: Error): Model & { asked: () => number } {
  let asked = 0;
  return {
    name,
    asked: () => asked,
    async generate() {
      asked += 1;
      throw error;
    },
  };
}

function answering(name: string): Model {
  return {
    name,
    generate: async () => ({ message: assistant(`from ${name}`), usage: NO_USAGE, stop: 'end' }),
  };
}

function request() {
  return requestOf([user('why?')]);
}
