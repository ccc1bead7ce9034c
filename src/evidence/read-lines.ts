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

/** The lines of what is kept. Of one whose other part is missing there is what is left. */
export function readLines(pieces: readonly Piece[]): Line[] {
  const lines: Line[] = [];
  const add = (number: number, bytes: Buffer | string): void => {
    const isLong = bytes.length > MAX_LINE_BYTES;
    const text = isLong ? shorten(Buffer.from(bytes)).toString() : bytes.toString();
    lines.push({ number, text, mark: null, step: null });
  };
  /** A line that has begun and not ended yet. */
  let open: Buffer = EMPTY;
  let number = 1;
  for (const { bytes, linesBefore, followsOn } of pieces) {
    if (!followsOn) {
      const isSameLine = number === linesBefore + 1;
      if (open.length > 0 && !isSameLine) add(number, Buffer.concat([open, MORE]));
      open = isSameLine ? Buffer.concat([open, MORE]) : MORE;
    }
    number = linesBefore + 1;
    const first = bytes.indexOf(LINE_END);
    if (first < 0) {
      open = shorten(Buffer.concat([open, bytes]));
      continue;
    }
    add(number, Buffer.concat([open, bytes.subarray(0, first)]));
    number += 1;
    const last = bytes.lastIndexOf(LINE_END);
    const whole =
      last > first
        ? bytes
            .subarray(first + 1, last)
            .toString()
            .split('\n')
        : [];
    for (const text of whole) {
      add(number, text);
      number += 1;
    }
    open = Buffer.from(bytes.subarray(last + 1));
  }
  if (open.length > 0) add(number, open);
  return clean(lines);
}

const EMPTY = Buffer.alloc(0);
const MORE = Buffer.from('…');

/** In place: there may be many. */
function clean(lines: Line[]): Line[] {
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
  return Buffer.concat([bytes.subarray(0, half), MORE, bytes.subarray(-half)]);
}
