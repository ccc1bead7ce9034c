import type { Model } from '../agent/model.ts';
import { createModel, type ModelSpec } from './create-model.ts';
import { withFallback } from './with-fallback.ts';
import { withRetry } from './with-retry.ts';

/** Models in the order they are asked, each with its own tries. */
export function openChain(specs: readonly ModelSpec[]): Model {
  return withFallback(specs.map((spec) => withRetry(createModel(spec))));
}
