// What single bytes are to the redactor, and what may stand between two characters of a secret.

import { skipPrefix } from './line-prefix.ts';

const LF = 0x0a;
const ESCAPE = 0x1b;
const BACKSLASH = 0x5c;
const [PLUS, MINUS] = [0x2b, 0x2d] as const;

/** In lower case; 0 for what may stand between two characters of a secret: space, control characters, backslashes. */
export const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20 || byte === BACKSLASH) return 0;
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
});

/** Behind one such byte, and what belongs to it: `\n` in words, colours, what stands before each line of a log. */
export function skipGap(bytes: Uint8Array, at: number): number {
  return bytes[at] === LF ? skipPrefix(bytes, at + 1) : skipPlainGap(bytes, at);
}

/** The same without what stands before a line. */
export function skipPlainGap(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === BACKSLASH) return at + (isBreakLetter(bytes[at + 1] ?? 0) ? 2 : 1);
  if (byte === ESCAPE && bytes[at + 1] === 0x5b) return skipColour(bytes, at + 2);
  return at + 1;
}

/** The n, r or t of `\n`, `\r` and `\t`. */
export function isBreakLetter(byte: number): boolean {
  return byte === 0x6e || byte === 0x72 || byte === 0x74;
}

/** Git puts one right before each line. */
export function isDiffSign(bytes: Uint8Array, at: number): boolean {
  return bytes[at - 1] === LF && (bytes[at] === PLUS || bytes[at] === MINUS);
}

const MAX_COLOUR = 16;

function skipColour(bytes: Uint8Array, start: number): number {
  for (let at = start; at < start + MAX_COLOUR; at += 1) {
    const byte = bytes[at] ?? 0;
    const isParameter = (byte >= 0x30 && byte <= 0x39) || byte === 0x3b;
    if (!isParameter) return byte >= 0x40 && byte <= 0x7e ? at + 1 : start;
  }
  return start;
}

/** Sets of characters that go on being part of a secret, however long it is. */
export const RUN = {
  word: toSet(/[\w-]/),
  dotted: toSet(/[\w.-]/),
  tilde: toSet(/[\w.~-]/),
  /** Of the name of an element in XML. */
  element: toSet(/[\w:.-]/),
  base64: toSet(/[\w+/=%-]/),
  /** Of a header: token68 of RFC 9110, and what else is seen there. */
  header: toSet(/[\w.~+/=%:-]/),
  bearer: toSet(/[\w.~+/=%-]/),
  cookie: toSet(/[^\r\n"'\xff]/),
  /** Of a value without quotes. */
  value: toSet(/[!#$%*+./0-9:=?@A-Z^_a-z|~\x80-\xfe-]/),
  /** Of a key, which goes on line by line; see `walkKey`. */
  pem: toSet(/[A-Za-z0-9+/=]/),
};

export type Run = Uint8Array;

function toSet(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(pattern.test(String.fromCharCode(byte))));
}
