import { expect, onTestFinished, test } from 'vitest';
import { createModel } from '../../../src/models/create-model.ts';
import { startWire } from '../../services/model-wire.ts';
import { requestOf, user } from './requests.ts';

test.each(['anthropic', 'gemini', 'openai'] as const)('%s is made by its name', (provider) => {
  expect(createModel({ provider, model: 'some-model', apiKey: 'k' }).name).toBe(`${provider}/some-model`);
});

test('openai is made without a key', () => {
  expect(createModel({ provider: 'openai', model: 'some-model', apiKey: '' }).name).toBe('openai/some-model');
});

test.each([
  ['less than was asked for', 500, 500],
  ['more than was asked for', 5000, 1234],
  ['nothing', undefined, 1234],
])('a model that allows %s gives what both allow', async (_what, maxOutputTokens, expected) => {
  const wire = await startWire();
  onTestFinished(() => wire.close());
  wire.mock.on({}, { content: 'ok' });
  const model = createModel({
    provider: 'anthropic',
    model: 'm',
    apiKey: 'k',
    baseUrl: wire.url,
    maxOutputTokens,
  });

  await model.generate(requestOf([user('why?')], { maxOutputTokens: 1234 }));

  expect(wire.last().body.max_tokens).toBe(expected);
});
