// From the file and the environment to what is sent.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readSecrets } from '../../../src/config/config.ts';
import { openChain } from '../../../src/models/open-chain.ts';
import { usableModels } from '../../../src/service/usable-models.ts';
import { ACCESS_TOKEN, serviceAccountFile } from '../../services/google-account.ts';
import { newLedger } from '../../services/ledger.ts';
import { startWire, type Wire } from '../../services/model-wire.ts';
import { redactor } from '../../services/redactor.ts';
import { load } from '../config/problems.ts';
import { requestOf, user } from '../models/requests.ts';

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
beforeEach(() => {
  wire.reset();
  wire.mock.on({}, { content: 'ok' });
});
afterAll(() => wire.close());

const vertex = { project: 'my-project', location: 'eu' };
const WORKFLOW = { name: 'analyze-failures', model: null };

test('a model of the file is asked as the file says', async () => {
  const [spec] = usable([
    { provider: 'gemini', model: 'g', baseUrl: wire.url, thinking: 'low', maxOutputTokens: 500 },
  ]);

  await openChain(spec ? [spec] : [], newLedger()).generate(requestOf([user('why?')]));

  expect(wire.last().headers['x-goog-api-key']).toBe('k');
  expect(wire.last().body.generationConfig).toEqual({
    maxOutputTokens: 500,
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' },
  });
});

test.each(['anthropic', 'gemini'])(
  '%s on Vertex AI is asked with the account of the variable',
  async (provider) => {
    const model = {
      provider,
      model: 'm',
      baseUrl: wire.url,
      thinking: 'on',
      vertex: { ...vertex, credentialsEnv: 'ACCOUNT' },
    };

    await openChain(usable([model]), newLedger()).generate(requestOf([user('why?')]));

    expect(wire.last().path).toMatch(
      /^\/v1\/projects\/my-project\/locations\/eu\/publishers\/\w+\/models\/m:/,
    );
    expect(wire.last().headers.authorization).toBe(`Bearer ${ACCESS_TOKEN}`);
    expect(JSON.stringify(wire.last().body)).toMatch(/"adaptive"|"includeThoughts":true/);
  },
);

test('a model on Vertex AI needs no key, but an account that is named has to be there', () => {
  const models = usable([
    { provider: 'anthropic', model: 'no-key' },
    { provider: 'anthropic', model: 'default-credentials', vertex },
    { provider: 'anthropic', model: 'no-account', vertex: { ...vertex, credentialsEnv: 'OTHER_ACCOUNT' } },
    { provider: 'gemini', model: 'key' },
  ]);

  expect(models.map(({ model }) => model)).toEqual(['default-credentials', 'key']);
  expect(models[0]?.vertex).toMatchObject(vertex);
  // In a region it is dearer.
  expect(models.map(({ price }) => price.output)).toEqual([11, 10]);
});

test('a server without keys needs none either, and a chain of which nothing is left is an error', () => {
  const [own] = usable([{ provider: 'openai', model: 'own', baseUrl: wire.url }]);

  expect(own).toMatchObject({ model: 'own', apiKey: '' });
  expect(() => usable([{ provider: 'anthropic', model: 'no-key' }])).toThrow('the key of no-key');
});

test('the model that the workflow asks for goes first', () => {
  const config = [
    { provider: 'gemini', model: 'one' },
    { provider: 'gemini', model: 'two' },
  ];

  expect(usable(config, 'two').map(({ model }) => model)).toEqual(['two', 'one']);
  expect(() => usable(config, 'three')).toThrow('asks for three, which is not among models.main');
});

test('a model that has its key but no price is an error', () => {
  const config = load(stringify({ models: { main: [{ provider: 'gemini', model: 'gemini-next' }] } }));
  const secrets = readSecrets(config, {}, { GEMINI_API_KEY: 'k' });

  expect(() => usableModels({ config, secrets, redactor }, WORKFLOW)).toThrow(
    'models.prices: there is no price for gemini/gemini-next',
  );
});

function usable(main: { model: string; [key: string]: unknown }[], wanted: string | null = null) {
  const prices = Object.fromEntries(main.map(({ model }) => [model, { input: 1, output: 10 }]));
  const config = load(stringify({ models: { main, prices } }));
  const env = { GEMINI_API_KEY: 'k', ACCOUNT: serviceAccountFile(wire.url) };
  return usableModels(
    { config, secrets: readSecrets(config, {}, env), redactor },
    { ...WORKFLOW, model: wanted },
  );
}
