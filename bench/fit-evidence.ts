// Fits the weights of the evidence to labelled logs, held back by a first guess, and writes the table anew.
// node bench/fit-evidence.ts --data DIR… [--pull N] [--write]   --pull: how hard the first guess holds on
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createReservoir, toEvidence, toReference } from '../src/evidence/evidence.ts';
import { findFeatures } from '../src/evidence/features.ts';
import { readLines } from '../src/evidence/read-lines.ts';
import { type Feature, WEIGHTS, type Weights } from '../src/evidence/weights.ts';
import {
  type LabelledLog,
  readLabelledLogs,
  scoreShown,
  toNumbers,
} from '../tests/fixtures/labelled-logs.ts';
import { FIRST_GUESS, FIXED } from './evidence-first-guess.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', multiple: true, default: [] },
    pull: { type: 'string', default: '0.005' },
    folds: { type: 'string', default: '6' },
    write: { type: 'boolean', default: false },
    max: { type: 'string', default: '4096' },
  },
});
const MAX_BYTES = Number(values.max);
const PULL = Number(values.pull);
const ROUNDS = 300;
const NAMES = Object.keys(FIRST_GUESS) as Feature[];
const ID = Object.fromEntries(NAMES.map((name, at) => [name, at])) as Record<Feature, number>;
const BIAS = ID.bias;

interface Row {
  ids: Uint8Array;
  values: Float32Array;
  label: 0 | 1;
  weight: number;
}

const logs = values.data.flatMap(readLabelledLogs);
const groups = [...new Set(logs.map(({ group }) => group))];
const rowsOf = new Map(logs.map((log) => [log, toRows(log)]));
const folds = Number(values.folds);
const unseen = Array.from({ length: folds }, (_, fold) => {
  const isTest = ({ group }: LabelledLog): boolean => groups.indexOf(group) % folds === fold;
  const weights = fitWeights(logs.filter((log) => !isTest(log)));
  return logs.filter(isTest).map((log) => evaluate(log, weights));
}).flat();
const fitted = fitWeights(logs);
print(
  'as they are',
  logs.map((log) => evaluate(log, WEIGHTS)),
);
print('fitted, on projects not seen', unseen);
print(
  'fitted, on all',
  logs.map((log) => evaluate(log, fitted)),
);
if (values.write) {
  const rows = NAMES.map((name) => `  '${name}': ${Number((fitted[name] ?? 0).toFixed(2))},`).join('\n');
  const file = join(import.meta.dirname, '../src/evidence/weights.ts');
  writeFileSync(
    file,
    `// What each feature of a line is worth: how much likelier it makes that the line explains the failure, as a logarithm.
// Fitted to labelled logs by bench/fit-evidence.ts.

/** By name; \`bias\` is for every line. */
export const WEIGHTS = {
${rows}
};

export type Feature = keyof typeof WEIGHTS;
export type Weights = Readonly<Record<Feature, number>>;
`,
  );
}

function print(what: string, scores: { share: number; first: number; set: string }[]): void {
  for (const set of [...new Set(scores.map((one) => one.set)), '']) {
    const some = scores.filter((one) => set === '' || one.set === set);
    const mean = (of: (one: { share: number; first: number }) => number): string =>
      ((100 * some.reduce((sum, one) => sum + of(one), 0)) / some.length).toFixed(1);
    console.log(
      what.padEnd(30),
      (set || 'all').padEnd(12),
      mean(({ share }) => share),
      mean(({ first }) => first),
    );
  }
}

function evaluate(log: LabelledLog, weights: Weights) {
  const { ranges } = toEvidence(fill(log.bytes), { maxBytes: MAX_BYTES, weights });
  return { ...scoreShown(log, toNumbers(ranges)), set: log.set };
}

function fill(bytes: Buffer) {
  const reservoir = createReservoir();
  reservoir.add(bytes);
  return reservoir;
}

/** A log that has a passing one is seen with and without it, so that the features of both kinds are fitted. */
function toRows(log: LabelledLog): Row[] {
  const told = new Set(log.occ.flat());
  const lines = readLines(fill(log.bytes).finish().pieces);
  const others = logs.filter(({ group }) => group === log.group).length;
  return [null, ...(log.pass ? [toReference(fill(log.pass))] : [])].flatMap((reference, _, all) => {
    const features = findFeatures(lines, reference);
    const rows: Row[] = [];
    lines.forEach(({ text, number }, at) => {
      if (text.trim() === '') return;
      const ids = [BIAS];
      const amounts = [1];
      features(at, (feature, value) => {
        ids.push(ID[feature]);
        amounts.push(value);
      });
      rows.push({
        ids: Uint8Array.from(ids),
        values: Float32Array.from(amounts),
        label: told.has(number) ? 1 : 0,
        weight: 0,
      });
    });
    const positive = rows.filter(({ label }) => label === 1).length || 1;
    const negative = rows.length - positive || 1;
    // Every project counts for something like the root of its logs; a log's few telling lines as much as all others.
    const share = 1 / Math.sqrt(others) / all.length;
    for (const row of rows) row.weight = share * (row.label === 1 ? 0.5 / positive : 1 / negative);
    return rows;
  });
}

/** Logistic regression, by gradient descent with momentum (Adam), pulled towards the first guess. */
function fitWeights(some: LabelledLog[]): Weights {
  const rows = some.flatMap((log) => rowsOf.get(log) ?? []);
  const total = rows.reduce((sum, { weight }) => sum + weight, 0);
  const prior = Float64Array.from(NAMES, (name) => FIRST_GUESS[name] ?? 0);
  const weights = Float64Array.from(prior);
  const first = new Float64Array(NAMES.length);
  const second = new Float64Array(NAMES.length);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const gradient = Float64Array.from(weights, (weight, at) =>
      at === BIAS ? 0 : PULL * (weight - (prior[at] ?? 0)),
    );
    for (const { ids, values: amounts, label, weight } of rows) {
      let score = 0;
      for (let at = 0; at < ids.length; at += 1) score += (weights[ids[at] ?? 0] ?? 0) * (amounts[at] ?? 0);
      const error = ((1 / (1 + Math.exp(-score)) - label) * weight) / total;
      for (let at = 0; at < ids.length; at += 1) {
        const one = ids[at] ?? 0;
        gradient[one] = (gradient[one] ?? 0) + error * (amounts[at] ?? 0);
      }
    }
    for (let at = 0; at < weights.length; at += 1) {
      if (FIXED.includes(NAMES[at] ?? 'bias')) continue;
      const slope = gradient[at] ?? 0;
      first[at] = 0.9 * (first[at] ?? 0) + 0.1 * slope;
      second[at] = 0.99 * (second[at] ?? 0) + 0.01 * slope * slope;
      const step = (first[at] ?? 0) / (1 - 0.9 ** round);
      const size = Math.sqrt((second[at] ?? 0) / (1 - 0.99 ** round)) + 1e-8;
      weights[at] = (weights[at] ?? 0) - (0.05 * step) / size;
    }
  }
  return Object.fromEntries(NAMES.map((name, at) => [name, weights[at] ?? 0])) as Weights;
}
