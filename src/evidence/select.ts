import type { Line } from './read-lines.ts';

/** A line, or several equal ones in a row. Places in the list of lines. */
export interface Unit {
  first: number;
  last: number;
  text: string;
  worth: number;
}

const GAP_BYTES = 18;
const MIN_ROW_BYTES = 12;
/** A line that is worth less is only shown beside one that is worth more. */
const WORTH_ALONE = 0.02;
/** A long line has to tell more than a short one, but not in proportion. */
const COST_POWER = 0.3;

/** The units that are worth most, as many as there is room for, in their order. */
export function selectUnits(
  units: readonly Unit[],
  { lines, maxBytes, sizeOf }: { lines: readonly Line[]; maxBytes: number; sizeOf: (unit: Unit) => number },
): Unit[] {
  const order = units
    .map((unit, at) => ({ at, size: sizeOf(unit), unit }))
    .filter(({ unit }) => unit.text !== '')
    .map((one) => ({ ...one, value: one.unit.worth / one.size ** COST_POWER }))
    .toSorted((a, b) => b.value - a.value || a.at - b.at);
  const isIn = new Uint8Array(units.length);
  const stepBytes = Math.max(
    0,
    ...lines.slice(0, 500).map(({ step }) => (step === null ? 0 : step.length + 3)),
  );
  const gapBytes = GAP_BYTES + stepBytes;
  // The gaps before the first and after the last one.
  let left = maxBytes - 2 * gapBytes;
  const all = order.reduce((sum, { size }) => sum + size, 0);
  if (all <= left) return units.filter(({ text }) => text !== '');
  // First what tells something by itself, or if nothing does, what comes nearest to it; then what is around it.
  const least = Math.min(WORTH_ALONE, order[0]?.unit.worth ?? 0);
  for (const { at, size, unit } of order) if (unit.worth >= least) add(at, size);
  grow();
  return units.filter((unit, at) => isIn[at] === 1 && unit.text !== '');

  /** If it has room. */
  function add(at: number, size: number): boolean {
    const joins = Number(isIn[next(at, -1)] === 1) + Number(isIn[next(at, 1)] === 1);
    const cost = size + gapBytes * (1 - joins);
    if (cost > left) return false;
    isIn[at] = 1;
    left -= cost;
    return true;
  }

  /** Beside those that are in, the best one first. */
  function grow(): void {
    const besides = new Map<number, (typeof order)[number]>();
    const byPlace = new Map(order.map((one) => [one.at, one]));
    const offer = (at: number): void => {
      for (const step of [-1, 1]) {
        const one = byPlace.get(next(at, step));
        if (one && isIn[one.at] !== 1) besides.set(one.at, one);
      }
    };
    for (const { at } of order) if (isIn[at] === 1) offer(at);
    while (left >= MIN_ROW_BYTES && besides.size > 0) {
      const best = [...besides.values()].reduce((a, b) => (b.value > a.value ? b : a));
      besides.delete(best.at);
      if (add(best.at, best.size)) offer(best.at);
    }
  }

  /** Blank lines do not part. */
  function next(from: number, step: number): number {
    let at = from + step;
    while (units[at]?.text === '') at += step;
    return at;
  }
}
