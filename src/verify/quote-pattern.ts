// A quote as what has to be found, in order: pieces of lines, without what people change when they quote.
import { cleanLine, cleanTerminal } from '../evidence/clean-line.ts';
import type { Quote } from './find-claims.ts';

export interface Piece {
  /** As it was written; and, if it began with what looks like the number of a line, without that. */
  texts: string[];
  /** That number. */
  claimed: number | null;
  /** Line of the note. */
  at: number;
}

/** Fewer letters and digits prove nothing. */
export const TELLING = 8;
/** A piece with fewer is not looked for at all. */
const WORTH_LOOKING = 3;
const MAX_PIECES = 400;

const DOTS = '(?:…|\\.{3})';
/** `[… 12 bytes]`, `[... 3 more lines ...]`; no other words, which nobody has said. */
const GAP = `\\[${DOTS} ?(?:\\d{1,9} ?)?(?:(?:more|bytes?|lines?|characters?|left|out|omitted|truncated|skipped|snip|cut) ?){0,4}${DOTS}?\\]`;
/** Where something was left out: by whoever quotes, by a preview, or because it is a secret. */
const LEFT_OUT = new RegExp(
  `\\s*(?:${GAP}|\\(${DOTS}\\)|…|\\.{3,}|\\[redacted(?:: [a-z-]{1,20})?\\]|\\[MASKED\\]|\\*{6,}|<snip>)\\s*`,
  'iu',
);
/** `12|`, `12:`, `12-` of grep, `file:12:`, `L12 `, `line 12:`. */
const NUMBER = /^(?:\/tmp\/[^\s:]{1,200}[:-])?(?:L|line )?(\d{1,8})(?:[|:)\]-] ?| \| ?)/i;
const REPEATED = / \[\d{1,9} times\]$/;

/** Empty when the quote is too short to prove anything. */
export function toPieces({ lines }: Pick<Quote, 'lines'>): Piece[] {
  const pieces = lines.flatMap(({ text, at }) => toPiecesOf(text, at)).slice(0, MAX_PIECES);
  return pieces.some(({ texts }) => countTelling(texts.at(-1) ?? '') >= TELLING) ? pieces : [];
}

function toPiecesOf(line: string, at: number): Piece[] {
  // Whatever stands in marks of the CI system is seen in a note.
  const text = toComparable(cleanTerminal(line)).replace(REPEATED, '');
  const [prefix = '', number] = NUMBER.exec(text) ?? [];
  const [first = '', ...rest] = text.slice(prefix.length).split(LEFT_OUT);
  // A number that was written is no part of the line, unless it is.
  const [whole = ''] = text.split(LEFT_OUT);
  const head: Piece = {
    texts: prefix === '' ? [whole] : [whole, first],
    claimed: number === undefined ? null : Number(number),
    at,
  };
  const others = rest.map((piece): Piece => ({ texts: [piece], claimed: null, at }));
  return [head, ...others]
    .map((piece) => ({ ...piece, texts: piece.texts.map((one) => one.trim()) }))
    .filter(({ texts }) => countTelling(texts.at(-1) ?? '') >= WORTH_LOOKING);
}

/** A fetched line as a person would see it: no colours and marks, blanks as one, the same quotation marks. */
export function normalize(line: string): string {
  return toComparable(cleanLine(line));
}

function toComparable(line: string): string {
  let text = line;
  if (text.includes('&'))
    text = text.replaceAll(/&(?:lt|gt|amp|quot|apos|#39|#x27);/g, (one) => ENTITIES[one] ?? one);
  if (NOT_ASCII.test(text))
    text = text.replaceAll(/\p{Cf}/gu, '').replaceAll(/[“”„‘’‚–—]/g, (one) => SIGNS[one] ?? one);
  return text.replaceAll(/\s+/g, ' ').trim();
}

const NOT_ASCII = /[^\p{ASCII}]/u;
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&#x27;': "'",
};
const SIGNS: Readonly<Record<string, string>> = {
  '“': '"',
  '”': '"',
  '„': '"',
  '‘': "'",
  '’': "'",
  '‚': "'",
  '–': '-',
  '—': '-',
};

export function countTelling(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/** What stands in a fetched line for a secret; anything may have stood there. */
const HIDDEN = /\[redacted\b[^\]]{0,80}\]|\[MASKED\]/i;
const MAX_HIDDEN = 200;

/** Where the piece ends in this line, when it is looked for behind `from`; -1 when it is not there. */
export function endOfPiece(line: string, piece: string, from: number): number {
  for (let at = line.indexOf(piece, from); at !== -1; at = line.indexOf(piece, at + 1)) {
    if (!cutsNumber(line, at, at + piece.length)) return at + piece.length;
  }
  return HIDDEN.test(line) ? endAcrossHidden(line, piece, from) : -1;
}

/** `expected 15` is not what `expected 1513` says. */
function cutsNumber(line: string, start: number, end: number): boolean {
  const isDigit = (at: number): boolean => /\d/.test(line.charAt(at));
  return (isDigit(start - 1) && isDigit(start)) || (isDigit(end - 1) && isDigit(end));
}

/** The piece has what the line hides, which is one word: what is before and behind has to fit. */
function endAcrossHidden(line: string, piece: string, from: number): number {
  const hidden = new RegExp(HIDDEN, 'gi');
  hidden.lastIndex = from;
  for (let found = hidden.exec(line); found; found = hidden.exec(line)) {
    const before = line.slice(from, found.index);
    const behind = line.slice(found.index + found[0].length);
    const head = overlap(before, piece);
    const tail = overlap(piece.slice(head), behind);
    const instead = piece.slice(head, piece.length - tail).trim();
    const isEnough = countTelling(piece.slice(0, head)) + countTelling(behind.slice(0, tail)) >= TELLING;
    if (head > 0 && isEnough && instead.length <= MAX_HIDDEN && !instead.includes(' '))
      return found.index + found[0].length + tail;
  }
  return -1;
}

/** How many characters the end of one and the beginning of the other have in common. */
function overlap(one: string, other: string): number {
  for (let length = Math.min(one.length, other.length); length > 0; length -= 1) {
    if (one.endsWith(other.slice(0, length))) return length;
  }
  return 0;
}
