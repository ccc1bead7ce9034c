import type { Model } from '../agent/model.ts';
import { createAnthropicModel } from './anthropic.ts';
import { createGeminiModel } from './gemini.ts';
import { createOpenAIModel } from './openai.ts';

export interface ModelSpec {
  provider: 'anthropic' | 'gemini' | 'openai';
  model: string;
  /** Empty for a server without keys, which only `openai` knows. */
  apiKey: string;
  /** The provider's public address if left out. */
  baseUrl?: string | undefined;
}

export function createModel({ provider, ...options }: ModelSpec): Model {
  switch (provider) {
    case 'anthropic':
      return createAnthropicModel(options);
    case 'gemini':
      return createGeminiModel(options);
    case 'openai':
      return createOpenAIModel(options);
  }
}
