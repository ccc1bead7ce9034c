import { cleanLine, findStamp, isUsual } from './clean-line.ts';
import type { Piece } from './reservoir.ts';

export interface Line {
  /** From 1, in the whole log. */
  number: number;
  text: string;
  /** The CI system's own mark on it, such as `section_end:…:step_script`. */
  mark: string | null;
  /** Where several steps write into one log: which one wrote this, such as `build-container : build`. */
  step: string | null;
}

const LINE_END = 10;
/** Of a longer line, the beginning and the end are kept. */
const MAX_LINE_BYTES = 8 * 1024;
const STEP = /^\[([\w.-]{1,80} : [\w.-]{1,80})\](?: |$)/;
const MARK = /(?:section_start|section_end):\d{1,12}:[\w.-]{1,128}/g;

/** The whole lines of what is kept. One whose other part is missing is left out. */
export function readLines(pieces: readonly Piece[]): Line[] {
  const raw: Line[] = [];
  let open: Buffer = Buffer.alloc(0);
  let isWhole = true;
  pieces.forEach(({ bytes, linesBefore, followsOn }, index) => {
    if (!followsOn) {
      open = Buffer.alloc(0);
      isWhole = false;
    }
    const first = bytes.indexOf(LINE_END);
    const last = bytes.lastIndexOf(LINE_END);
    if (first < 0) {
      open = shorten(Buffer.concat([open, bytes]));
      return;
    }
    const begun = shorten(Buffer.concat([open, bytes.subarray(0, first)]));
    if (isWhole) raw.push({ number: linesBefore + 1, text: begun.toString(), mark: null, step: null });
    let number = linesBefore + 2;
    if (last > first)
      for (const text of bytes
        .subarray(first + 1, last)
        .toString()
        .split('\n')) {
        raw.push({
          number,
          text: text.length > MAX_LINE_BYTES ? shorten(Buffer.from(text)).toString() : text,
          mark: null,
          step: null,
        });
        number += 1;
      }
    open = Buffer.from(bytes.subarray(last + 1));
    isWhole = true;
    const next = pieces[index + 1];
    if (next === undefined && open.length > 0)
      raw.push({ number, text: shorten(open).toString(), mark: null, step: null });
  });
  const hasEnd = pieces.some(({ bytes }) => bytes.includes(LINE_END));
  if (!hasEnd && open.length > 0 && isWhole)
    raw.push({ number: 1, text: open.toString(), mark: null, step: null });
  return toLines(raw);
}

/** In place: there may be many. */
function toLines(lines: Line[]): Line[] {
  if (lines[0]) lines[0].text = lines[0].text.replace(/^\uFEFF/, '');
  const stamp = findStamp(lines);
  const hasSteps = isUsual(STEP, lines);
  for (const line of lines) {
    const step = hasSteps ? STEP.exec(line.text) : null;
    const bare = step ? line.text.slice(step[0].length) : line.text;
    line.step = step?.[1] ?? null;
    const text = stamp ? bare.replace(stamp, '') : bare;
    if (text.includes('section_')) line.mark = text.match(MARK)?.join(' ') ?? null;
    line.text = cleanLine(text);
  }
  return lines;
}

function shorten(bytes: Buffer): Buffer {
  if (bytes.length <= MAX_LINE_BYTES) return bytes;
  const half = MAX_LINE_BYTES / 2;
  return Buffer.concat([bytes.subarray(0, half), Buffer.from(' … '), bytes.subarray(-half)]);
}
