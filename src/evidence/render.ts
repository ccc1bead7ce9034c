import type { Line } from './read-lines.ts';
import type { Unit } from './select.ts';

/** Numbers of lines, from 1, both ends included. */
export type Range = [from: number, to: number];

export interface Rendered {
  text: string;
  ranges: Range[];
}

/** `12|the line as it stood`, with gaps between. */
export function render(
  units: readonly Unit[],
  lines: readonly Line[],
  totalLines: number,
  maxLineBytes: number,
): Rendered {
  const rows: string[] = [];
  const ranges: Range[] = [];
  let shownTo = 0;
  let step: string | null = null;
  for (const unit of units) {
    const from = lines[unit.first]?.number ?? 0;
    const to = lines[unit.last]?.number ?? from;
    const gap = from - shownTo - 1;
    const last = ranges.at(-1);
    if (gap === 0 && last) last[1] = to;
    else if (last && isBlankBetween(lines, shownTo, from, unit.first)) {
      rows.push('');
      last[1] = to;
    } else {
      if (gap > 0) rows.push(toGap(gap));
      ranges.push([from, to]);
    }
    const writer = lines[unit.first]?.step ?? null;
    if (writer !== null && writer !== step) rows.push(`[${writer}]`);
    step = writer;
    rows.push(toRow(unit, lines, maxLineBytes));
    shownTo = to;
  }
  if (totalLines > shownTo) rows.push(toGap(totalLines - shownTo));
  return { text: rows.join('\n'), ranges };
}

export function toRow(unit: Unit, lines: readonly Line[], maxLineBytes: number): string {
  const times = unit.last - unit.first + 1;
  const number = lines[unit.first]?.number ?? 0;
  return `${number}|${cutMiddle(unit.text, maxLineBytes)}${times > 1 ? ` [${times} times]` : ''}`;
}

function toGap(count: number): string {
  return `[… ${count} ${count === 1 ? 'line' : 'lines'}]`;
}

function isBlankBetween(lines: readonly Line[], shownTo: number, from: number, first: number): boolean {
  const missing = from - shownTo - 1;
  for (let back = 1; back <= missing; back += 1) {
    const line = lines[first - back];
    if (line?.text !== '' || line.number !== from - back) return false;
  }
  return true;
}

/** Characters, so that none is broken; bytes, so that it fits. */
function cutMiddle(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const left = Math.max(0, maxBytes - 24);
  const head = takeBytes(text, Math.ceil(left * 0.65));
  const tail = takeBytes([...text.slice(-left)].reverse().join(''), Math.floor(left * 0.35));
  const cut = Buffer.byteLength(text) - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return `${head} [… ${cut} bytes] ${[...tail].reverse().join('')}`;
}

function takeBytes(text: string, maxBytes: number): string {
  let bytes = 0;
  let taken = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    taken += character;
  }
  return taken;
}
