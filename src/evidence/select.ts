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
const MAX_PASSES = 40;
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
  // First what tells something by itself, or if nothing does, what comes nearest to it; then what is around it.
  const [best] = order;
  add(({ worth }) => worth >= Math.min(WORTH_ALONE, best?.unit.worth ?? 0));
  for (let pass = 0; pass < MAX_PASSES && left >= MIN_ROW_BYTES; pass += 1)
    if (!add(() => true, { besideOnly: true })) break;
  return units.filter((unit, at) => isIn[at] === 1 && unit.text !== '');

  /** Those that have room; false when there were none. */
  function add(isWanted: (unit: Unit) => boolean, { besideOnly = false } = {}): boolean {
    const before = left;
    for (const { at, size, unit } of order) {
      if (isIn[at] === 1 || !isWanted(unit)) continue;
      const joins = Number(isJoined(at - 1, -1)) + Number(isJoined(at + 1, 1));
      const cost = size + gapBytes * (1 - joins);
      if (cost > left || (besideOnly && joins === 0)) continue;
      isIn[at] = 1;
      left -= cost;
    }
    return left < before;
  }

  /** Blank lines do not part. */
  function isJoined(from: number, step: number): boolean {
    let at = from;
    while (units[at]?.text === '') at += step;
    return isIn[at] === 1;
  }
}
