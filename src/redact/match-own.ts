import { FOLDED, skipGap } from './bytes.ts';
import { type Needle, toSpellings } from './own-secrets.ts';

/** Between two characters, altogether. */
export const MAX_GAP_BYTES = 64;
export const MAX_OWN_BYTES = 2_048;

/** Where a secret that begins here ends; -1 when none does. */
export function matchOwn(bytes: Uint8Array, start: number, needle: Needle): number {
  return matchFrom(bytes, start, needle, 0);
}

function matchFrom(bytes: Uint8Array, start: number, needle: Needle, first: number): number {
  let at = start;
  for (let index = first; index < needle.bytes.length; index += 1) {
    if (index > 0) at = skipGaps(bytes, at);
    const wanted = needle.bytes[index] ?? 0;
    const found = bytes[at] ?? 0;
    const isSame = found === wanted || (needle.isCaseless && FOLDED[found] === wanted);
    const long = found === wanted && !mayBegin(found) ? 0 : spelledOut(bytes, at, wanted);
    if (isSame && long > 0) {
      // Either itself or the beginning of its longer form.
      const end = matchFrom(bytes, at + 1, needle, index + 1);
      if (end !== -1) return end;
    }
    if ((!isSame && long === 0) || at > start + MAX_OWN_BYTES) return -1;
    at += long || 1;
  }
  return at;
}

/** Any longer form begins with one of these. */
function mayBegin(byte: number): boolean {
  return byte === 0x25 || byte === 0x26;
}

const LONG_SPELLINGS = Array.from({ length: 256 }, (_, byte) =>
  toSpellings(byte, { mayBeEncoded: true }).slice(1),
);

/** How many bytes stand here for the wanted one: `%2F`, `u002f` or `x2f` behind a backslash, `&amp;`; 0 if they do not. */
function spelledOut(bytes: Uint8Array, at: number, wanted: number): number {
  const found = FOLDED[bytes[at] ?? 0] ?? 0;
  const isEscaped = (found === 0x75 || found === 0x78) && bytes[at - 1] === 0x5c;
  if (!mayBegin(found) && !isEscaped) return 0;
  return LONG_SPELLINGS[wanted]?.find((one) => isAt(bytes, at, one))?.length ?? 0;
}

function isAt(bytes: Uint8Array, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (FOLDED[bytes[at + index] ?? 0] !== text.charCodeAt(index)) return false;
  }
  return true;
}

function skipGaps(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < start + MAX_GAP_BYTES && at < bytes.length && FOLDED[bytes[at] ?? 0] === 0)
    at = skipGap(bytes, at);
  return at;
}
