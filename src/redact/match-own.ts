import { FOLDED, isDiffSign, skipGap, skipPlainGap } from './bytes.ts';
import { HEX_SEPARATORS, type Needle, toSpellings } from './own-secrets.ts';

/** Between two characters, altogether. */
export const MAX_GAP_BYTES = 96;
export const MAX_OWN_BYTES = 2_048;

/** Where a secret that begins here ends; -1 when none does. */
export function matchOwn(bytes: Uint8Array, start: number, needle: Needle): number {
  return matchFrom(bytes, start, needle, 0);
}

/** From the character of this index on, which is to stand there. */
function matchFrom(bytes: Uint8Array, start: number, needle: Needle, first: number): number {
  let at = start;
  for (let index = first; index < needle.bytes.length; index += 1) {
    if (index > first) {
      const next = skipToNext(bytes, at, needle, index);
      if (next > at) {
        // What looks like what stands before each line may as well be of the secret; the sign of a diff as well not.
        const early = skipGaps(bytes, at, false);
        const others = [...(early < next ? [early] : []), ...(isDiffSign(bytes, early) ? [early + 1] : [])];
        for (const other of others) {
          const isBehind = isWanted(bytes, other, needle, index);
          const end = isBehind ? matchFrom(bytes, other, needle, index) : -1;
          if (end !== -1) return end;
        }
        at = next;
      }
    }
    const wanted = needle.bytes[index] ?? 0;
    const found = bytes[at] ?? 0;
    const isSame = isWanted(bytes, at, needle, index);
    const long = found === wanted && !mayBegin(found) ? [] : spelledOut(bytes, at, wanted);
    const [shortest, ...others] = isSame ? [1, ...long] : long;
    if (shortest === undefined || at > start + MAX_OWN_BYTES) return -1;
    // Each may be the beginning of a longer one: `%`, `%25`, `%2525`.
    for (const length of others.reverse()) {
      const end = matchBehind(bytes, at + length, needle, index + 1);
      if (end !== -1) return end;
    }
    at += shortest;
  }
  return at;
}

function matchBehind(bytes: Uint8Array, at: number, needle: Needle, index: number): number {
  if (index === needle.bytes.length) return at;
  return matchFrom(bytes, skipToNext(bytes, at, needle, index), needle, index);
}

function isWanted(bytes: Uint8Array, at: number, { bytes: all, isHex }: Needle, index: number): boolean {
  const [found = 0, wanted = 0] = [bytes[at], all[index]];
  return found === wanted || (isHex && FOLDED[found] === wanted);
}

/** Gaps, and between two digits in hexadecimal and the next ones what is written there. */
function skipToNext(bytes: Uint8Array, start: number, { isHex }: Needle, index: number): number {
  let at = skipGaps(bytes, start, true);
  if (!isHex || index % 2 !== 0) return at;
  for (let count = 0; count < MAX_SEPARATORS; count += 1) {
    const separator = HEX_SEPARATORS.find((one) => isAt(bytes, at, one));
    if (separator === undefined) break;
    at = skipGaps(bytes, at + separator.length, true);
  }
  return at;
}

const MAX_SEPARATORS = 2;

/** Any longer form begins with one of these. */
function mayBegin(byte: number): boolean {
  return byte === 0x25 || byte === 0x26;
}

const LONG_SPELLINGS = Array.from({ length: 256 }, (_, byte) =>
  toSpellings(byte, { mayBeEncoded: true }).slice(1),
);

const NONE: never[] = [];

/** How many bytes may stand here for the wanted one: `%2F`, `u002f` or `x2f` behind a backslash, `&amp;`. */
function spelledOut(bytes: Uint8Array, at: number, wanted: number): number[] {
  const found = FOLDED[bytes[at] ?? 0] ?? 0;
  const isEscaped = (found === 0x75 || found === 0x78) && bytes[at - 1] === 0x5c;
  if (!mayBegin(found) && !isEscaped) return NONE;
  const spellings = LONG_SPELLINGS[wanted]?.filter((one) => isAt(bytes, at, one)) ?? NONE;
  return spellings.map(({ length }) => length);
}

function isAt(bytes: Uint8Array, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (FOLDED[bytes[at + index] ?? 0] !== text.charCodeAt(index)) return false;
  }
  return true;
}

function skipGaps(bytes: Uint8Array, start: number, withPrefixes: boolean): number {
  let at = start;
  while (at < start + MAX_GAP_BYTES && at < bytes.length && FOLDED[bytes[at] ?? 0] === 0)
    at = withPrefixes ? skipGap(bytes, at) : skipPlainGap(bytes, at);
  return at;
}
