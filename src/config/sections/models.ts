import { z } from 'zod';
import { envName, httpUrl, nonEmpty, sound } from '../values.ts';

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

const anthropic = z.strictObject({
  provider: z.literal('anthropic').describe('Anthropic'),
  apiKeyEnv: envName().default('ANTHROPIC_API_KEY').describe('Variable with the API key'),
  ...shared,
});

const gemini = z.strictObject({
  provider: z.literal('gemini').describe('Google Gemini'),
  apiKeyEnv: envName().default('GEMINI_API_KEY').describe('Variable with the API key'),
  ...shared,
});

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
  })
  .prefault({})
  .describe('Chains of models');

function chain() {
  return z.array(z.discriminatedUnion('provider', [anthropic, gemini, openai])).min(1);
}
