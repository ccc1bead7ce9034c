import { expect, test } from 'vitest';
import { PermanentError } from '../../../src/errors.ts';
import { createModel } from '../../../src/models/create-model.ts';

test.each(['anthropic', 'gemini'] as const)('%s is made by its name', (provider) => {
  expect(createModel({ provider, model: 'some-model', apiKey: 'k' }).name).toBe(`${provider}/some-model`);
});

test('openai is refused until there is an adapter', () => {
  expect(() => createModel({ provider: 'openai', model: 'm', apiKey: 'k' })).toThrow(PermanentError);
});
