import type { Ledger } from '../agent/ledger.ts';
import type { Model } from '../agent/model.ts';
import { createModel, type ModelSpec } from './create-model.ts';
import type { Price } from './price.ts';
import { withFallback } from './with-fallback.ts';
import { withLedger } from './with-ledger.ts';
import { withRetry } from './with-retry.ts';

export type PricedModel = ModelSpec & { price: Price };

/** Models in the order they are asked, each with its own tries, all on one account. */
export function openChain(specs: readonly PricedModel[], ledger: Ledger): Model {
  return withFallback(
    specs.map((spec) => withRetry(withLedger(createModel(spec), { ledger, price: spec.price }))),
  );
}
