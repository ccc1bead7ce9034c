// How far a private key goes on behind its first line.

/** So much of what comes next decides over a line. */
export const KEY_LOOK_AHEAD = 1_024;
/** A key with its first line; what is longer is none. */
const MAX_KEY_BYTES = 32_768;

const BODY = String.raw`(?:[A-Za-z0-9+/=]|%2[BbFf]|%3[Dd]|\\{1,2}/)`;
/** Of whoever wrote the log, before each line. */
export const STAMP = String.raw`(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]{8,18}(?:Z|[+-]\d\d:?\d\d)?\]?[ \t](?:\d\d[OE][ +])?)?`;
/** Also in JSON, percent-encoded, and with blank lines. */
const LINE_END = String.raw`(?:\r|\n|\\{1,4}[nr]|%0[AaDd])`;
/** With what an indent or a diff puts before the next line. */
const BREAK = String.raw`(?:(?:[ \t]{0,8}${LINE_END}${STAMP}){1,4}[ \t]{0,32}[-+]?)`;
const LAST = '-----END [A-Z0-9 ]{0,40}-----';
const LINE_IS_OVER = String.raw`[ \t]{0,8}${LINE_END}|["'\x60,<})\]\x1b]|-----END |$`;
const FIELD = String.raw`(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)(?::|%3A)[\w %,.+/:()@-]{0,100}?(?=${LINE_END}|$)`;

const MORE = new RegExp(`${BODY}*`, 'y');
const END = new RegExp(`(?:${BREAK}|[ \\t]{1,8})?(?:${BODY}{1,120}(?:${BREAK}|[ \\t]{1,8})?)?${LAST}`, 'y');
const LINE = new RegExp(`${BREAK}(?:${BODY}{120}|${BODY}{16,119}(?=${LINE_IS_OVER})|${FIELD})`, 'y');
/** Of a key whose line ends became spaces. */
const WORD = new RegExp(`[ \\t]{1,8}(?:${BODY}{120}|${BODY}{40,119}(?=[ \\t]|${LINE_IS_OVER}))`, 'y');

/**
 * Where the part of a key ends that is known for sure: behind its last line, before the first line that is not of a
 * key, or, when it is not over, where to go on once there is more.
 */
export function walkKey(
  bytes: Buffer,
  { start, from, isEnd }: { start: number; from: number; isEnd: boolean },
): { end: number; isOver: boolean } {
  const limit = start + MAX_KEY_BYTES;
  for (let at = from; at < limit; ) {
    const text = bytes.toString('latin1', at, at + KEY_LOOK_AHEAD);
    const more = lengthOf(MORE, text);
    if (more > 0) {
      at += more;
      continue;
    }
    if (text.length < KEY_LOOK_AHEAD && !isEnd) return { end: at, isOver: false };
    const last = lengthOf(END, text);
    const next = last || lengthOf(LINE, text) || lengthOf(WORD, text);
    at += next;
    if (last > 0 || next === 0) return { end: Math.min(at, limit), isOver: true };
  }
  return { end: limit, isOver: true };
}

/** 0 if nothing of it stands at the beginning. */
function lengthOf(sticky: RegExp, text: string): number {
  sticky.lastIndex = 0;
  return sticky.exec(text)?.[0].length ?? 0;
}
