import type { Model } from '../agent/model.ts';
import { PermanentError } from '../errors.ts';
import { createAnthropicModel } from './anthropic.ts';
import { createGeminiModel } from './gemini.ts';

export interface ModelSpec {
  provider: 'anthropic' | 'gemini' | 'openai';
  model: string;
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
    default:
      throw new PermanentError(
        `Models of ${provider} are not supported yet; choose anthropic or gemini in the configuration.`,
      );
  }
}
