// How much of what explains a failure is shown, beside simpler ways; how fast, and in how much memory.
// node bench/evidence.ts [--data DIR…] [--each] [--no-speed]
// --data: folders with labels.jsonl (see tests/fixtures/labelled-logs.ts); --each: name what is missed at 4 KB

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createReservoir, toEvidence, toReference } from '../src/evidence/evidence.ts';
import {
  type LabelledLog,
  readLabelledLogs,
  scoreShown,
  toNumbers,
} from '../tests/fixtures/labelled-logs.ts';
import { measureSpeed } from './evidence-speed.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', multiple: true, default: [join(import.meta.dirname, '../tests/fixtures/logs')] },
    each: { type: 'boolean', default: false },
    speed: { type: 'boolean', default: true },
  },
  allowNegative: true,
});

const SIZES = [2_048, 4_096, 8_192, 16_384];
type Show = (log: LabelledLog, maxBytes: number) => Set<number>;

const ways: Record<string, Show> = {
  evidence: (log, maxBytes) => showEvidence(log, maxBytes, false),
  'evidence + passing log': (log, maxBytes) => showEvidence(log, maxBytes, true),
  'head + tail': (log, maxBytes) =>
    new Set([...fill(log, maxBytes / 2, { from: 0, step: 1 }), ...fill(log, maxBytes / 2, END)]),
  tail: (log, maxBytes) => new Set(fill(log, maxBytes, END)),
  'grep -C3 error|fail': (log, maxBytes) => new Set(grepWindows(log, maxBytes)),
};
const END = { from: -1, step: -1 };

for (const folder of values.data) {
  const logs = readLabelledLogs(folder);
  console.log(`${logs.length} logs of ${folder}: % of labelled lines shown / % whose first is shown`);
  console.log(''.padEnd(24), SIZES.map((size) => `${size / 1_024} KB`.padStart(13)).join(''));
  for (const [name, show] of Object.entries(ways)) {
    const cells = SIZES.map((maxBytes) => {
      const scores = logs.map((log) => ({ id: log.id, ...scoreShown(log, show(log, maxBytes)) }));
      if (values.each && maxBytes === 4_096 && name === 'evidence') printMissed(scores);
      return `${toPercent(scores.map(({ share }) => share))}/${toPercent(scores.map(({ first }) => first))}`;
    });
    console.log(name.padEnd(24), cells.map((cell) => cell.padStart(13)).join(''));
  }
}
if (values.speed) await measureSpeed(values.data);

function showEvidence(log: LabelledLog, maxBytes: number, withPassing: boolean): Set<number> {
  const reference = withPassing && log.pass ? toReference(keep(log.pass)) : null;
  const { text, ranges } = toEvidence(keep(log.bytes), { maxBytes, reference });
  if (Buffer.byteLength(text) > maxBytes) throw new Error(`${log.id}: more than ${maxBytes} bytes are shown`);
  return toNumbers(ranges);
}

function keep(bytes: Buffer) {
  const reservoir = createReservoir();
  reservoir.add(bytes);
  return reservoir;
}

function printMissed(scores: { id: string; share: number; first: number }[]): void {
  for (const { id, share, first } of scores)
    if (share < 1) console.log(`  ${id}: ${(100 * share).toFixed(0)} %${first ? '' : ', not the first'}`);
}

function toPercent(parts: number[]): string {
  return ((100 * parts.reduce((a, b) => a + b, 0)) / Math.max(1, parts.length)).toFixed(1);
}

function fill(
  { lines }: LabelledLog,
  maxBytes: number,
  { from, step }: { from: number; step: number },
): number[] {
  const shown: number[] = [];
  let bytes = 0;
  for (let at = from < 0 ? lines.length - 1 : from; at >= 0 && at < lines.length; at += step) {
    bytes += Buffer.byteLength(lines[at] ?? '') + 1;
    if (bytes > maxBytes) break;
    shown.push(at + 1);
  }
  return shown;
}

function grepWindows({ lines }: LabelledLog, maxBytes: number): number[] {
  const shown = new Set<number>();
  let bytes = 0;
  for (const [at, line] of lines.entries()) {
    if (!/error|fail/i.test(line)) continue;
    for (let near = Math.max(0, at - 3); near <= Math.min(lines.length - 1, at + 3); near += 1) {
      if (shown.has(near + 1)) continue;
      bytes += Buffer.byteLength(lines[near] ?? '') + 1;
      if (bytes > maxBytes) return [...shown];
      shown.add(near + 1);
    }
  }
  return [...shown];
}
