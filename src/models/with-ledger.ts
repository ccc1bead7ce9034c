import type { Ledger } from '../agent/ledger.ts';
import { contextTokens, type Model, ModelError, type ModelRequest, type Usage } from '../agent/model.ts';
import { type Price, toCost, toHighestCost } from './price.ts';

/** For this call and the next, which is larger by what this one brings. */
const NEXT_CALL = 2.2;

/**
 * The same model on somebody's account. What a call may cost at most is set aside before it is made, so this goes
 * around the adapter itself: every try is a call.
 */
export function withLedger(model: Model, { ledger, price }: { ledger: Ledger; price: Price }): Model {
  return {
    get name() {
      return model.name;
    },
    canGoOn: async (request) =>
      (await ledger.leftMicroUsd()) >= NEXT_CALL * toHighestCost(request, model.name, price),
    async generate(request: ModelRequest) {
      request.signal.throwIfAborted();
      const highest = toHighestCost(request, model.name, price);
      const settle = await ledger.reserve(highest);
      const turn = await model.generate(request).catch(async (error: unknown) => {
        // What broke off may be billed, and nobody says how much of it.
        await settle(error instanceof ModelError && error.unbilled ? 0 : highest);
        throw error;
      });
      await settle(isCounted(turn.usage) ? toCost(turn.usage, price) : highest);
      return turn;
    },
  };
}

/** Not every server counts, and some count only what they have written; one that does never counts nothing. */
function isCounted(usage: Usage): boolean {
  return contextTokens(usage) > 0;
}
