// The port of the money, as whoever asks a model sees it.

export interface Ledger {
  /** Sets money aside before it is spent. Throws a `ModelError` of kind `no-money` if a limit would be exceeded. */
  reserve(microUsd: number): Promise<Settle>;
  /** What can still be set aside; 0 when a limit is reached. */
  leftMicroUsd(): Promise<number>;
  /** Since the ledger was opened; what is set aside and not settled counts in full. */
  spentMicroUsd(): number;
}

/** Replaces what was set aside by what it came to. Never throws: until it is settled, all of it counts. */
export type Settle = (microUsd: number) => Promise<void>;
