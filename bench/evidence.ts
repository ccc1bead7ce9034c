// How much of what explains a failure is shown, beside simpler ways; how fast and in how much memory.
// node bench/evidence.ts --data DIR…   folders with labels.jsonl: {"log", "pass"?, "occ": [[line, …], …], "group"}
import { parseArgs } from 'node:util';
import { createReservoir, toEvidence, toReference } from '../src/evidence/evidence.ts';
import {
  type LabelledLog,
  readLabelledLogs,
  scoreShown,
  toNumbers,
} from '../tests/fixtures/labelled-logs.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', multiple: true, default: [] },
    each: { type: 'boolean', default: false },
  },
});

const cases = values.data.flatMap(readLabelledLogs);
const SIZES = [2048, 4096, 8192, 16384];
type Show = (one: LabelledLog, maxBytes: number) => Set<number>;

const ways: Record<string, Show> = {
  evidence: (one, maxBytes) => toShown(one, maxBytes, false),
  'evidence + passing log': (one, maxBytes) => toShown(one, maxBytes, true),
  'head + tail': (one, maxBytes) =>
    new Set([...fill(one, maxBytes / 2, 0, 1), ...fill(one, maxBytes / 2, one.lines.length - 1, -1)]),
  tail: (one, maxBytes) => new Set(fill(one, maxBytes, one.lines.length - 1, -1)),
  'grep -C3 error|fail': (one, maxBytes) => new Set(grepWindows(one, maxBytes)),
};

for (const [name, show] of Object.entries(ways)) {
  const cells = SIZES.map((maxBytes) => {
    const scores = cases.map((one) => ({ ...scoreShown(one, show(one, maxBytes)), id: one.id }));
    if (values.each && maxBytes === 4096 && name.startsWith('evidence'))
      for (const { id, share, first } of scores)
        if (share < 0.9 || first < 1) console.log(`  ${id} ${(100 * share).toFixed(0)} ${first}`);
    return `${mean(scores.map(({ share }) => share))}/${mean(scores.map(({ first }) => first))}`;
  });
  console.log(name.padEnd(26), cells.map((cell) => cell.padStart(12)).join(''));
}

function toShown(one: LabelledLog, maxBytes: number, withPass: boolean): Set<number> {
  const reservoir = createReservoir();
  reservoir.add(one.bytes);
  let reference = null;
  if (withPass && one.pass) {
    const passing = createReservoir();
    passing.add(one.pass);
    reference = toReference(passing);
  }
  const { text, ranges } = toEvidence(reservoir, { maxBytes, reference });
  if (Buffer.byteLength(text) > maxBytes) throw new Error(`${one.id}: over budget`);
  return toNumbers(ranges);
}

function mean(numbers: number[]): string {
  return ((100 * numbers.reduce((a, b) => a + b, 0)) / Math.max(1, numbers.length)).toFixed(1);
}

function fill({ lines }: LabelledLog, maxBytes: number, from: number, step: number): number[] {
  const shown: number[] = [];
  let bytes = 0;
  for (let at = from; at >= 0 && at < lines.length; at += step) {
    bytes += Buffer.byteLength(lines[at] ?? '') + 1;
    if (bytes > maxBytes) break;
    shown.push(at + 1);
  }
  return shown;
}

function grepWindows(one: LabelledLog, maxBytes: number): number[] {
  const shown = new Set<number>();
  let bytes = 0;
  for (const [at, line] of one.lines.entries()) {
    if (!/error|fail/i.test(line)) continue;
    for (let near = Math.max(0, at - 3); near <= Math.min(one.lines.length - 1, at + 3); near += 1) {
      if (shown.has(near + 1)) continue;
      bytes += Buffer.byteLength(one.lines[near] ?? '') + 1;
      if (bytes > maxBytes) return [...shown];
      shown.add(near + 1);
    }
  }
  return [...shown];
}
