import { expect, test } from 'vitest';
import { createModel } from '../../../src/models/create-model.ts';

test.each(['anthropic', 'gemini', 'openai'] as const)('%s is made by its name', (provider) => {
  expect(createModel({ provider, model: 'some-model', apiKey: 'k' }).name).toBe(`${provider}/some-model`);
});

test('openai is made without a key', () => {
  expect(createModel({ provider: 'openai', model: 'some-model', apiKey: '' }).name).toBe('openai/some-model');
});
