export type Random = {
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  pick<T>(from: readonly T[]): T;
  hex(length: number): string;
};

/** The same numbers for the same seed, so that a log is the same text each time (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    int,
    pick: (from) => {
      const [picked] = from.slice(int(0, from.length - 1));
      if (picked === undefined) throw new Error('There is nothing to pick from.');
      return picked;
    },
    hex: (length) => Array.from({ length }, () => int(0, 15).toString(16)).join(''),
  };
}
