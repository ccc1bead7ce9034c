import { z } from 'zod';
import { defaultPrices } from '../default-prices.ts';
import { envName, httpUrl, matching, nonEmpty, sound } from '../values.ts';

const shared = {
  model: nonEmpty().describe('Name of the model, as its provider spells it'),
  baseUrl: httpUrl().optional().describe('Address of the API, if it is not the public one of the provider'),
  maxOutputTokens: z
    .int()
    .min(256)
    .max(1_000_000)
    .optional()
    .describe('Longest answer, in tokens; the workflow may want a shorter one'),
  thinking: z
    .enum(['off', 'on', 'low', 'medium', 'high'])
    .optional()
    .describe('How much it thinks before it answers; if left out, as it does by default'),
};

const vertex = z.strictObject({
  project: matching(/^[a-z][a-z0-9.:-]*[a-z0-9]$/, {
    message: 'is not the ID of a project',
    fix: 'write the ID that Google Cloud shows beside the name of the project, as in my-project-123456',
  }).describe('ID of the project in Google Cloud'),
  location: matching(/^(?:global|us|eu|[a-z]+-[a-z]+[0-9]+)$/, {
    message: 'is not a location of Vertex AI',
    fix: 'write global, us, eu or a region such as europe-west1',
  }).describe('Where the model runs: global, us, eu or a region'),
  credentialsEnv: envName()
    .optional()
    .describe(
      "Variable with the JSON key of a service account, or the path of its file; if left out, Google's Application Default Credentials",
    ),
});

const anthropic = onVertexToo(z.literal('anthropic').describe('Anthropic'), 'ANTHROPIC_API_KEY');
const gemini = onVertexToo(z.literal('gemini').describe('Google Gemini'), 'GEMINI_API_KEY');

const openai = z
  .strictObject({
    provider: z
      .literal('openai')
      .describe('Any server that speaks chat completions: vLLM, Ollama, OpenRouter …'),
    apiKeyEnv: envName()
      .optional()
      .describe('Variable with the API key; leave it out for a server without keys'),
    ...shared,
    baseUrl: shared.baseUrl.describe(
      'Address of the API, all that stands before /chat/completions; if left out, https://api.openai.com/v1',
    ),
  })
  .refine((model) => model.baseUrl !== undefined || model.apiKeyEnv !== undefined, {
    path: ['apiKeyEnv'],
    message: 'is missing, and without baseUrl this is api.openai.com, which needs a key',
    params: { fix: 'add apiKeyEnv: OPENAI_API_KEY, or the baseUrl of your own server' },
    when: sound('baseUrl', 'apiKeyEnv'),
  });

const price = z
  .strictObject({
    input: usd().describe('Input that was not cached'),
    output: usd().describe('Output, thinking included'),
    cacheRead: usd().optional().describe('Input that was read from the cache; as input if left out'),
    cacheWrite: usd()
      .optional()
      .describe('Input that was written to it; a quarter more than input if left out'),
  })
  .transform(({ input, output, cacheRead = input, cacheWrite = 1.25 * input }) => ({
    input,
    output,
    cacheRead,
    cacheWrite,
  }))
  .describe('USD per million tokens');

export const models = z
  .strictObject({
    main: chain()
      .prefault([
        { provider: 'anthropic', model: 'claude-sonnet-5-5' },
        { provider: 'gemini', model: 'gemini-3.8-flash' },
      ])
      .describe('Models of the analysis, tried in this order; those without their key are left out'),
    side: chain()
      .prefault([{ provider: 'gemini', model: 'gemini-3.8-flash' }])
      .describe('Models of side calls such as summaries, tried in this order'),
    shortReplies: z
      .enum(['main', 'side'])
      .default('main')
      .describe('Which chain answers short questions of people; behind side stands main'),
    prices: z
      .record(nonEmpty(), price)
      .prefault({})
      .transform((own) => ({ ...defaultPrices, ...own }))
      .describe(
        'What models cost, by model or provider/model; the usual ones are built in. On Vertex AI, a tenth is added outside of global',
      ),
  })
  .prefault({})
  .describe('Chains of models');

function chain() {
  return z.array(z.discriminatedUnion('provider', [anthropic, gemini, openai])).min(1);
}

/** A provider whose models are reached with an API key or through Vertex AI, never with both. */
function onVertexToo<Provider extends z.ZodLiteral>(provider: Provider, usualEnv: string) {
  return z
    .strictObject({
      provider,
      apiKeyEnv: envName().optional().describe(`Variable with the API key; if left out, ${usualEnv}`),
      vertex: vertex.optional().describe('For models on Vertex AI of Google Cloud, which need no API key'),
      ...shared,
    })
    .refine((model) => model.vertex === undefined || model.apiKeyEnv === undefined, {
      path: ['apiKeyEnv'],
      message: 'does not go with vertex, whose credentials are those of Google Cloud',
      params: { fix: 'remove apiKeyEnv, or remove vertex to use the API of the provider itself' },
      when: sound('apiKeyEnv'),
    })
    .overwrite((model) => (model.vertex ? model : { ...model, apiKeyEnv: model.apiKeyEnv ?? usualEnv }));
}

function usd() {
  return z.number().min(0).max(1_000_000);
}
