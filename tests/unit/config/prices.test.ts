import { describe, expect, it } from 'vitest';
import { findPrice, readSecrets } from '../../../src/config/config.ts';
import { errorOf, load } from './problems.ts';

const defaults = load('');
const KEYS = { ANTHROPIC_API_KEY: 'a', GEMINI_API_KEY: 'g' };

describe('the price of a model', () => {
  it('is built in for every model of the default chains', () => {
    for (const model of [...defaults.models.main, ...defaults.models.side])
      expect(findPrice(defaults.models, model)).toMatchObject({ input: expect.any(Number) });
    expect(readSecrets(defaults, { models: true }, KEYS).warnings).toEqual([]);
  });

  it('never asks more for reading a cache than for plain input, nor less for writing to it', () => {
    for (const { input, output, cacheRead, cacheWrite } of Object.values(defaults.models.prices)) {
      expect(cacheRead).toBeLessThanOrEqual(input);
      expect(cacheWrite).toBeGreaterThanOrEqual(input);
      expect(output).toBeGreaterThan(input);
    }
  });

  it('is that of the file where it has one, for one provider before all', () => {
    const { models } = load(`models:
  prices:
    claude-sonnet-5-5: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }
    openai/claude-sonnet-5-5: { input: 8, output: 9 }
`);
    const priceAt = (provider: 'anthropic' | 'openai') =>
      findPrice(models, { provider, model: 'claude-sonnet-5-5' });

    expect(priceAt('anthropic')).toEqual({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4 });
    expect(priceAt('openai')).toMatchObject({ input: 8, output: 9 });
    expect(findPrice(models, { provider: 'gemini', model: 'gemini-3.8-flash' })).toEqual(
      defaults.models.prices['gemini-3.8-flash'],
    );
  });

  it('is on the safe side where the file says nothing of caches', () => {
    const { models } = load('models: { prices: { qwen3: { input: 2, output: 8 } } }');

    expect(models.prices.qwen3).toEqual({ input: 2, output: 8, cacheRead: 2, cacheWrite: 2.5 });
  });

  it('is a tenth more on Vertex AI, unless the model may run anywhere', () => {
    const at = (location: string) =>
      findPrice(defaults.models, {
        provider: 'anthropic',
        model: 'claude-sonnet-5-5',
        vertex: { location },
      });

    expect(at('global')).toEqual(defaults.models.prices['claude-sonnet-5-5']);
    for (const location of ['eu', 'europe-west1'])
      expect(at(location)).toEqual({
        input: expect.closeTo(2.2, 9),
        output: expect.closeTo(11, 9),
        cacheRead: expect.closeTo(0.11, 9),
        cacheWrite: expect.closeTo(2.75, 9),
      });
  });

  it.each(['claude-opus-4-5-20251101', 'claude-opus-4-5@20251101', 'gpt-5.5-2026-04-23'])(
    'of a snapshot is that of its model: %s',
    (model) => {
      const family = model.replace(/[-@]20.*/, '');
      expect(findPrice(defaults.models, { provider: 'openai', model })).toEqual(
        defaults.models.prices[family],
      );
    },
  );

  it.each(['constructor', 'gpt-5.5-preview', 'sonnet'])('is not guessed: %s', (model) => {
    expect(findPrice(defaults.models, { provider: 'openai', model })).toBeUndefined();
  });
});

describe('a model without a price', () => {
  const chains = `models:
  main:
    - { provider: anthropic, model: claude-next }
    - { provider: openai, model: qwen3, baseUrl: "http://localhost:11434/v1" }
  side:
    - { provider: openai, model: qwen3, baseUrl: "http://localhost:11434/v1" }
`;

  it('is a problem that names it, once, and shows what to add', () => {
    const { problems } = errorOf(() => readSecrets(load(chains), { models: true }, KEYS));

    expect(problems.map(({ path, message }) => [path, message])).toEqual([
      [
        'models.prices',
        'there is no price for anthropic/claude-next, so the limits in USD could not be kept',
      ],
      ['models.prices', 'there is no price for openai/qwen3, so the limits in USD could not be kept'],
    ]);
    expect(problems[1]?.fix).toContain("add 'openai/qwen3': { input: …, output: … }");
    expect(problems[1]?.fix).toContain('{ input: 0, output: 0 } for a server of your own');
  });

  it('is none where it can not be used: it has no key', () => {
    const { problems } = errorOf(() => readSecrets(load(chains), { models: true }, {}));

    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('openai/qwen3')]);
  });

  it('is one on Vertex AI too, which needs no key', () => {
    const vertex = { project: 'my-project', location: 'global' };
    const main = [{ provider: 'anthropic', model: 'claude-next@20270101', vertex }];
    const config = load(JSON.stringify({ models: { main } }));
    const { problems } = errorOf(() => readSecrets(config, { models: true }, {}));

    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('anthropic/claude-next@20270101'),
    ]);
  });

  it('is none for a process that asks no model', () => {
    expect(() => readSecrets(load(chains), {}, KEYS)).not.toThrow();
  });

  it('has one when the fix was followed', () => {
    const mended = `${chains}  prices:
    'openai/qwen3': { input: 0, output: 0 }
    claude-next: { input: 5, output: 25 }
`;

    expect(readSecrets(load(mended), { models: true }, KEYS).modelKeys.size).toBe(1);
  });
});
