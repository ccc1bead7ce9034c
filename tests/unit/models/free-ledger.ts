import type { Ledger } from '../../../src/agent/ledger.ts';

/** One without limits, that counts what is spent. */
export function freeLedger(): Ledger {
  let spent = 0;
  return {
    spentMicroUsd: () => spent,
    leftMicroUsd: async () => Number.POSITIVE_INFINITY,
    async reserve(microUsd) {
      spent += microUsd;
      return async (real) => {
        spent += real - microUsd;
      };
    },
  };
}
