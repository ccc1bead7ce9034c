export interface Difference {
  /** `messages[2].content, character 57`. */
  place: string;
  /** What stands there, shortened. */
  before: string;
  now: string;
}

/** The first place in which two JSON values differ that are not the same text. */
export function findDifference(before: unknown, now: unknown): Difference {
  return compare(before, now, '') ?? { place: 'the order of keys', before: show(before), now: show(now) };
}

function compare(before: unknown, now: unknown, place: string): Difference | null {
  if (typeof before === 'string' && typeof now === 'string') return compareTexts(before, now, place);
  if (!isContainer(before) || !isContainer(now) || Array.isArray(before) !== Array.isArray(now))
    return before === now ? null : { place, before: show(before), now: show(now) };
  for (const key of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const found = compare(before[key], now[key], toPlace(place, key, Array.isArray(now)));
    if (found) return found;
  }
  return null;
}

const BEFORE = 20;
const AFTER = 60;

function compareTexts(before: string, now: string, place: string): Difference | null {
  if (before === now) return null;
  let at = 0;
  while (before[at] === now[at]) at += 1;
  const excerpt = (text: string): string => {
    const start = Math.max(0, at - BEFORE);
    const part = JSON.stringify(text.slice(start, at + AFTER));
    return `${start > 0 ? '…' : ''}${part}${text.length > at + AFTER ? '…' : ''}`;
  };
  return { place: `${place}, character ${at + 1}`, before: excerpt(before), now: excerpt(now) };
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > BEFORE + AFTER ? `${text.slice(0, BEFORE + AFTER)}…` : text;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function toPlace(place: string, key: string, isList: boolean): string {
  if (isList) return `${place}[${key}]`;
  return place === '' ? key : `${place}.${key}`;
}
