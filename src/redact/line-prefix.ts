// What stands before each line of a log without being of it: time stamps, numbers of lines, signs of a diff or a quote.

const SPACE = 0x20;
const TAB = 0x09;
/** Altogether; two stamps fit in. */
export const MAX_PREFIX_BYTES = 72;

/** What each character of such a word may be. */
const [NEVER, PLAIN, SIGN, DASH] = [0, 1, 2, 3] as const;
const SORT = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[[\]:|>#*]/.test(character)) return SIGN;
  if (/[-/+]/.test(character)) return DASH;
  return /[\d.,TZ()]/.test(character) ? PLAIN : NEVER;
});

/** Behind it; where a line begins, if there is none. */
export function skipPrefix(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  // As nearly every line begins.
  if (first === undefined || (SORT[first] === NEVER && !isBlank(first))) return start;
  let end = start;
  let at = skipBlanks(bytes, start);
  for (let words = 0; at < start + MAX_PREFIX_BYTES; words += 1) {
    const stamp = gitlabStampAt(bytes, at);
    const word = stamp || wordAt(bytes, at, words > 0);
    if (word === 0) break;
    end = skipBlanks(bytes, at + word);
    at = end;
  }
  return end;
}

function skipBlanks(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < start + MAX_PREFIX_BYTES && isBlank(bytes[at])) at += 1;
  return at;
}

/** How long it is; 0 if it may as well be of the line: it has to have a sign of what it is, and a blank behind it. */
function wordAt(bytes: Uint8Array, start: number, isLater: boolean): number {
  let signs = 0;
  let dashes = 0;
  let hasDot = false;
  let at = start;
  for (
    let sort = sortAt(bytes, at);
    sort !== NEVER && at < start + MAX_PREFIX_BYTES;
    sort = sortAt(bytes, at)
  ) {
    if (sort === SIGN) signs += 1;
    if (sort === DASH) dashes += 1;
    hasDot ||= bytes[at] === 0x2e;
    at += 1;
  }
  const length = at - start;
  if (length === 0 || !isBlank(bytes[at])) return 0;
  const isNumber = bytes[at] === TAB && dashes === 0;
  const isDate = dashes >= 2 && length >= 8;
  // Of a build of an image: `#12 0.345 `.
  const isSince = isLater && hasDot;
  return signs > 0 || isNumber || isDate || isSince || (dashes === length && length <= 3) ? length : 0;
}

function sortAt(bytes: Uint8Array, at: number): number {
  return SORT[bytes[at] ?? 0] ?? NEVER;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

const STAMP_BYTES = 32;

/** Of `2026-11-18T09:30:00.000000Z 01O `, which GitLab puts before each line, or with `+` before the rest of one; or 0. */
function gitlabStampAt(bytes: Uint8Array, at: number): number {
  const isStamp =
    bytes[at + 4] === 0x2d &&
    bytes[at + 10] === 0x54 &&
    bytes[at + 26] === 0x5a &&
    bytes[at + 27] === SPACE &&
    (bytes[at + 30] === 0x4f || bytes[at + 30] === 0x45);
  return isStamp && at + STAMP_BYTES <= bytes.length ? STAMP_BYTES : 0;
}
