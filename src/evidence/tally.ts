import type { Line } from './read-lines.ts';
import { kindOf, templateOf } from './templates.ts';

/** How often lines like this one occur in a log. */
export interface Tally {
  templateOf(at: number): number;
  /** With the same words and names. */
  alike(at: number): Occurrence;
  /** Of the same kind of message, whatever it is about. */
  ofKind(at: number): Occurrence;
  /** The very same text stood above. */
  isRepeated(at: number): boolean;
}

export interface Occurrence {
  total: number;
  before: number;
}

/** Shorter lines are the same by chance. */
const MIN_REPEATED_CHARS = 13;

export function tallyLines(lines: readonly Line[]): Tally {
  const templates = count(lines, templateOf);
  const kinds = count(lines, kindOf);
  const texts = new Set<string>();
  const repeated = new Uint8Array(lines.length);
  lines.forEach(({ text }, at) => {
    if (text.length >= MIN_REPEATED_CHARS && texts.has(text)) repeated[at] = 1;
    else texts.add(text);
  });
  return {
    templateOf: templates.keyOf,
    alike: templates.of,
    ofKind: kinds.of,
    isRepeated: (at) => repeated[at] === 1,
  };
}

function count(lines: readonly Line[], toKey: (text: string) => number) {
  const keys = new Int32Array(lines.length);
  const before = new Uint32Array(lines.length);
  const totals = new Map<number, number>();
  lines.forEach(({ text }, at) => {
    const key = toKey(text);
    const total = totals.get(key) ?? 0;
    keys[at] = key;
    before[at] = total;
    totals.set(key, total + 1);
  });
  const keyOf = (at: number): number => keys[at] ?? 0;
  return {
    keyOf,
    of: (at: number): Occurrence => ({ total: totals.get(keyOf(at)) ?? 1, before: before[at] ?? 0 }),
  };
}
