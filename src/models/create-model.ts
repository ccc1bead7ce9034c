import type { Model } from '../agent/model.ts';
import { createAnthropicModel } from './anthropic.ts';
import { createGeminiModel } from './gemini.ts';
import { createOpenAIModel } from './openai.ts';
import type { Thinking } from './thinking.ts';
import type { Access } from './vertex.ts';

export type ModelSpec = Access & {
  provider: 'anthropic' | 'gemini' | 'openai';
  model: string;
  /** The provider's public address if left out. */
  baseUrl?: string | undefined;
  thinking?: Thinking | undefined;
  /** Whoever asks may want less, but gets no more. */
  maxOutputTokens?: number | undefined;
};

export function createModel(spec: ModelSpec): Model {
  const { maxOutputTokens = Number.POSITIVE_INFINITY } = spec;
  const { name, generate } = createAdapter(spec);
  return {
    name,
    generate: (request) =>
      generate({ ...request, maxOutputTokens: Math.min(request.maxOutputTokens, maxOutputTokens) }),
  };
}

function createAdapter(spec: ModelSpec): Model {
  switch (spec.provider) {
    case 'anthropic':
      return createAnthropicModel(spec);
    case 'gemini':
      return createGeminiModel(spec);
    case 'openai':
      return createOpenAIModel(spec);
  }
}
