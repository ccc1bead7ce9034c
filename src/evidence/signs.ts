import type { FailingCommand } from './failing-command.ts';
import type { Feature } from './weights.ts';

/** The lines that are signs of the failure by themselves, and their order. */
export interface Signs {
  isStrong(at: number): boolean;
  /** The greatest strength of the lines from one place to another. */
  strongest(from: number, to: number): number;
  /** The first error is the cause more often than what it brings about. */
  visit(at: number, visit: (feature: Feature, value: number) => void): void;
}

/** From here on a line is a sign by itself. */
export const STRONG = 2.5;
/** How far below a sign lines still belong to it. */
const REACH = 12;
const SOME = 5;

export function rankSigns(strength: Float32Array, { start, end }: FailingCommand): Signs {
  const isStrong = (at: number): boolean => (strength[at] ?? 0) >= STRONG;
  const before = new Uint32Array(strength.length + 1);
  const nearest = new Int32Array(strength.length);
  strength.forEach((_, at) => {
    before[at + 1] = (before[at] ?? 0) + (isStrong(at) ? 1 : 0);
    nearest[at] = isStrong(at) ? at : at === 0 ? -REACH : (nearest[at - 1] ?? -REACH);
  });
  const first = before[start] ?? 0;
  const last = before[end + 1] ?? 0;
  return {
    isStrong,
    strongest(from, to) {
      let most = 0;
      for (let at = Math.max(0, from); at <= Math.min(strength.length - 1, to); at += 1)
        most = Math.max(most, strength[at] ?? 0);
      return most;
    },
    visit(at, visit) {
      if (at < start || at > end || last === first) return;
      const order = (before[at + 1] ?? 0) - first;
      const left = last - (before[at] ?? 0);
      const isNear = at - (nearest[at] ?? -REACH) < REACH;
      if (order === 1 && isNear) visit(isStrong(at) ? 'first-sign' : 'near-first-sign', 1);
      if (order >= 1 && order <= SOME && isNear) visit('early-sign', 1);
      if (left >= 1 && left <= SOME) visit('late-sign', 1);
    },
  };
}
