// What a note claims to have from jobs: quotes, and links to jobs and their lines. By lines of the Markdown, so that a
// claim that does not hold can be changed where it stands.
import { closesFence, type Fence, openFence } from '../fences.ts';
import { findLinks, type JobLink } from './find-links.ts';

export interface Claims {
  quotes: Quote[];
  links: JobLink[];
}

export interface Quote {
  /** Lines of the text, from 0: the first one, marks included, and the one behind the last. */
  start: number;
  end: number;
  /** The quoted lines without marks. */
  lines: { text: string; at: number }[];
  /** The link it stands under, if any. */
  link: JobLink | null;
}

/** Fences of other languages say what to do, or are of the change, unless they stand right under the link of a job. */
const LOG = new Set(
  'log logs output ansi trace traceback console shell-session sh-session session terminal stdout stderr'.split(
    ' ',
  ),
);
const EVIDENCE = new Set(['', 'text', 'txt', 'plaintext', ...LOG]);
/** What is to be done, wherever it stands. */
const CHANGE = new Set(['diff', 'patch', 'suggestion']);
/** There a fence that is not marked as a log is advice. */
const ADVICE =
  /^\W*(?:\w+ed )?(?:what to do|how to|fix(?:es)?\b|next steps?|suggest|recommend|remedy|solution|workaround)/i;

const ITEM = '(?:[-*+]|\\d{1,9}[.)])[ \\t]+';
const HEADING = new RegExp(`^[ \\t]*(?:#{1,6}[ \\t]+|(?:${ITEM})?\\*\\*)(.*)`);
const BLOCK_QUOTE = new RegExp(`^[ \\t]*(?:${ITEM})*>[ \\t]?`);
interface Line {
  text: string;
  /** Of the whole text, from 0. */
  at: number;
}

interface Found extends Claims {
  /** Since the last heading or quote. */
  near: JobLink[];
  isAdvice: boolean;
}

export function findClaims(text: string): Claims {
  const found: Found = { quotes: [], links: [], near: [], isAdvice: false };
  findIn(
    text.split('\n').map((line, at) => ({ text: line, at })),
    found,
  );
  return { quotes: found.quotes, links: found.links };
}

/** What stands in a block quote is looked at in the same way, without its marks. */
function findIn(lines: readonly Line[], found: Found, depth = 0): void {
  const fences = readFences(lines);
  for (let index = 0; index < lines.length; index += 1) {
    const { text, at } = lines[index] as Line;
    if (text === '') continue;
    const fence = openFence(text);
    if (fence) {
      const { content, next } = fences.endOf(index, fence);
      const isQuote = isEvidence(languageOf(fence), found, lines, index);
      if (isQuote) addQuote(found, lines.slice(index, next), lines.slice(index + 1, content));
      const log = isQuote ? next : fences.nextLog(index + 1);
      // Some readers do not take the beginning of code for one; it must not hide a quote.
      if (log < next) addQuote(found, lines.slice(log, next), lines.slice(log + 1, content));
      index = next - 1;
      continue;
    }
    if (BLOCK_QUOTE.test(text)) {
      const end = endOf(lines, index, ({ text }) => BLOCK_QUOTE.test(text));
      findInBlockQuote(lines.slice(index, end), found, depth);
      index = end - 1;
      continue;
    }
    if (beginsCode(lines, index) && found.near.length > 0) {
      const end = endOf(lines, index, (line) => line.text.trim() === '' || INDENTED.test(line.text));
      const block = lines.slice(index, end);
      const last = block.findLastIndex(({ text }) => text.trim() !== '');
      addQuote(found, block.slice(0, last + 1), block.slice(0, last + 1));
      index += last;
      continue;
    }
    const heading = HEADING.exec(text)?.[1];
    if (heading !== undefined) found.isAdvice = ADVICE.test(heading);
    if (/^[ \t]*#{1,6}[ \t]/.test(text)) found.near = [];
    const links = findLinks(text, at);
    found.links.push(...links);
    found.near.push(...links);
  }
}

/** By four blanks, behind a blank line; in a list they only say what belongs to an item. */
function beginsCode(lines: readonly Line[], index: number): boolean {
  if (!INDENTED.test(lines[index]?.text ?? '') || lines[index - 1]?.text.trim() !== '') return false;
  const above = findAbove(lines, index)?.text ?? '';
  return !/^[ \t]/.test(above) && !IS_ITEM.test(above);
}

const INDENTED = /^(?: {4}|\t)[ \t]*\S/;
const IS_ITEM = new RegExp(`^${ITEM}`);

function findInBlockQuote(marked: readonly Line[], found: Found, depth: number): void {
  const lines = marked.map(({ text, at }) => ({ text: text.replace(BLOCK_QUOTE, ''), at }));
  const { near } = found;
  // Otherwise it may quote a person, or be a remark.
  const isQuote = near.length > 0;
  if (depth < MAX_DEPTH && lines.some(({ text }) => openFence(text))) {
    findIn(lines, found, depth + 1);
    const around = isQuote ? withoutFences(lines) : [];
    if (around.length > 0) addQuote({ ...found, near }, around, around.map(toPlainLine));
    return;
  }
  if (isQuote) addQuote(found, lines, lines.map(toPlainLine));
}

const MAX_DEPTH = 8;

function withoutFences(lines: readonly Line[]): Line[] {
  const rest: Line[] = [];
  const fences = readFences(lines);
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] as Line;
    const fence = openFence(line.text);
    if (fence) index = fences.endOf(index, fence).next - 1;
    else rest.push(line);
  }
  return rest;
}

function addQuote(found: Found, whole: readonly Line[], lines: Quote['lines']): void {
  const { near } = found;
  const [start = 0, last = start] = [whole[0]?.at, whole.at(-1)?.at];
  const link = near.findLast(({ line }) => line !== null) ?? near.at(-1) ?? null;
  found.quotes.push({ start, end: last + 1, lines, link });
  found.near = [];
}

function isEvidence(
  language: string,
  { near, isAdvice }: Found,
  lines: readonly Line[],
  index: number,
): boolean {
  if (/^logs?$/.test(language)) return true;
  if (isAdvice || CHANGE.has(language)) return false;
  if (EVIDENCE.has(language)) return true;
  const above = findAbove(lines, index);
  return near.some(({ at }) => at === above?.at);
}

/** The last line above that is not empty. */
function findAbove(lines: readonly Line[], index: number): Line | undefined {
  let above = index - 1;
  while (lines[above]?.text.trim() === '') above -= 1;
  return lines[above];
}

function endOf(lines: readonly Line[], start: number, belongs: (line: Line) => boolean): number {
  let end = start + 1;
  while (end < lines.length && belongs(lines[end] as Line)) end += 1;
  return end;
}

interface Fences {
  /** Of the fence that begins there. */
  endOf(start: number, fence: Fence): { content: number; next: number };
  /** The first line from there that begins a quote, marked as such; behind the last line if there is none. */
  nextLog(from: number): number;
}

/** Looked for once: a text may be nothing but fences, each of which ends far behind. */
function readFences(lines: readonly Line[]): Fences {
  const closing: { [sign: string]: number[] } = { '`': [], '~': [] };
  for (const [at, { text }] of lines.entries()) closing[CLOSING.exec(text)?.[1] ?? '']?.push(at);
  const logs = lines.flatMap(({ text }, at) => {
    const fence = openFence(text);
    return fence && LOG.has(languageOf(fence)) ? [at] : [];
  });
  return {
    endOf(start, fence) {
      const places = closing[fence.mark.charAt(0)] ?? [];
      let index = firstFrom(start + 1, places.length, (one) => places[one] ?? 0);
      while (index < places.length && !closesFence(lines[places[index] ?? 0]?.text ?? '', fence)) index += 1;
      const content = places[index];
      return content === undefined
        ? { content: lines.length, next: lines.length }
        : { content, next: content + 1 };
    },
    nextLog: (from) => logs[firstFrom(from, logs.length, (one) => logs[one] ?? 0)] ?? lines.length,
  };
}

/** Of so many places in their order, the first that is not before the given one. */
function firstFrom(from: number, count: number, placeOf: (index: number) => number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (placeOf(middle) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

const CLOSING = /^[ \t]*([`~])\1{2,}[ \t]*$/;

function languageOf({ info }: Fence): string {
  return /^[ \t]*(\w[\w+#-]*)/.exec(info)?.[1]?.toLowerCase() ?? '';
}

function toPlainLine({ text, at }: Line): Line {
  return { text: toPlain(text), at };
}

/** Of a block quote, in which Markdown means something. */
function toPlain(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])|[`*]+|(?<!\w)_+|_+(?!\w)/g, '$1');
}
