import { estimateTokens } from '../agent/estimate.ts';
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
  const inputTokens = estimateTokens(request, { model, bytesPerToken: 1 }) + frameBytes(request);
  return roundUp(inputTokens * dearest + request.maxOutputTokens * price.output);
}

/** A conversation is counted together with its frame, which may have grown since: a reply adds to the system text. */
function frameBytes({ system, tools }: ModelRequest): number {
  return Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools));
}

/** To whole millionths; what floating point adds to a whole one is not counted. */
function roundUp(microUsd: number): number {
  return Math.ceil(Number(microUsd.toFixed(3)));
}
