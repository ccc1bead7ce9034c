import { mostTokens } from '../agent/estimate.ts';
import type { ModelRequest, Usage } from '../agent/model.ts';

/** In USD per million tokens, which is the same as millionths of a USD per token. */
export interface Price {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export function toCost(usage: Usage, price: Price): number {
  return roundUp(
    usage.inputTokens * price.input +
      usage.cacheReadTokens * price.cacheRead +
      usage.cacheWriteTokens * price.cacheWrite +
      usage.outputTokens * price.output,
  );
}

/** Nothing can cost more: all input at its highest price, and all the output that is allowed. */
export function toHighestCost(request: ModelRequest, model: string, price: Price): number {
  const dearest = Math.max(price.input, price.cacheRead, price.cacheWrite);
  return roundUp(mostTokens(request, model, 1) * dearest + request.maxOutputTokens * price.output);
}

/** To whole millionths; what floating point adds to a whole one is not counted. */
function roundUp(microUsd: number): number {
  return Math.ceil(Number(microUsd.toFixed(3)));
}
