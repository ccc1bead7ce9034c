// A raw line of a log as a person would see it: no colours, no overwritten progress, no marks of the CI system.

const ESCAPE = '\u001b';
// From strings, since control characters in a pattern are taken for a mistake elsewhere.
const TERMINAL_COMMANDS = new RegExp(
  `${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u0007${ESCAPE}]{0,512}(?:\u0007|${ESCAPE}\\\\)|[()][A-Z0-9]|[=>78cDEHM])`,
  'g',
);
const INVISIBLE = /(?!\t)\p{Cc}/u;
const INVISIBLE_ALL = new RegExp(INVISIBLE, 'gu');
const MARKS =
  /(?:section_(?:start|end):\d{1,12}:[\w.-]{1,128}(?:\[[^\]]{0,256}\])?|travis_(?:fold|time):(?:start|end):[\w.,:=-]{1,256})\r?/g;

export function cleanLine(raw: string): string {
  const isMarked = raw.includes('section_') || raw.includes('travis_');
  return cleanTerminal(isMarked ? raw.replace(MARKS, '') : raw);
}

/** The same with the marks of the CI system. */
export function cleanTerminal(raw: string): string {
  let text = raw;
  if (text.includes(ESCAPE)) text = text.replace(TERMINAL_COMMANDS, '');
  if (text.includes('\r')) text = afterOverwriting(text);
  return (INVISIBLE.test(text) ? text.replace(INVISIBLE_ALL, '') : text).trimEnd();
}

/** Of what was written over itself, what was seen last. */
function afterOverwriting(text: string): string {
  return text.split('\r').findLast((part) => part.trim() !== '') ?? '';
}

/** What the CI system puts before every line: a date, a time, a stream's name. */
const STAMPS = [
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d\d[OE][ +]/,
  /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]? ?/,
  /^\[?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\]? {1,2}/,
];
const SAMPLE = 400;
const MOST = 0.7;

/** How to take such a stamp off; a log has one on nearly every line, or none. */
export function findStamp(lines: readonly { text: string }[]): RegExp | null {
  return STAMPS.find((stamp) => isUsual(stamp, lines)) ?? null;
}

/** Most lines at the beginning are so. */
export function isUsual(pattern: RegExp, lines: readonly { text: string }[]): boolean {
  const sample = lines.slice(0, SAMPLE).filter(({ text }) => text.trim() !== '');
  return sample.filter(({ text }) => pattern.test(text)).length > MOST * sample.length;
}
