// A log becomes a preview: at the same size as its head and tail, the lines that explain the failure.
import { type Features, findFeatures } from './features.ts';
import { type Line, readLines } from './read-lines.ts';
import { type Range, render, toRow } from './render.ts';
import { createReservoir, type Reservoir } from './reservoir.ts';
import { selectUnits, type Unit } from './select.ts';
import { templateOf } from './templates.ts';
import { type Feature, WEIGHTS, type Weights } from './weights.ts';

export interface Evidence {
  /** Never more than was asked for, in UTF-8. */
  text: string;
  ranges: Range[];
  totalLines: number;
  totalBytes: number;
  /** Why each line is shown. */
  explain(): Explained[];
}

export interface Explained {
  number: number;
  score: number;
  reasons: { name: Feature; score: number }[];
}

export interface EvidenceOptions {
  maxBytes: number;
  /** Lines of a log of the same job that passed. */
  reference?: ReadonlySet<number> | null;
  /** What features are worth; to try out others. */
  weights?: Weights;
}

export function toEvidence(
  reservoir: Reservoir,
  { maxBytes, reference = null, weights = WEIGHTS }: EvidenceOptions,
): Evidence {
  const { pieces, totalLines, totalBytes } = reservoir.finish();
  const lines = readLines(pieces);
  const features = findFeatures(lines, reference);
  const score = createScore(features, weights);
  const units = toUnits(lines, score.of);
  const maxLineBytes = Math.max(160, Math.min(800, Math.floor(maxBytes / MAX_LINE_PART)));
  const sizeOf = (unit: Unit): number => Buffer.byteLength(toRow(unit, lines, maxLineBytes)) + 1;
  let chosen = selectUnits(units, { lines, maxBytes, sizeOf });
  let rendered = render(chosen, lines, totalLines, maxLineBytes);
  for (let excess = excessOf(rendered); excess > 0 && chosen.length > 0; excess = excessOf(rendered)) {
    chosen = dropLeast(chosen, excess, sizeOf);
    rendered = render(chosen, lines, totalLines, maxLineBytes);
  }
  const fits = excessOf(rendered) <= 0;
  return {
    ...(fits ? rendered : { text: '', ranges: [] }),
    totalLines,
    totalBytes,
    explain: () =>
      chosen.map(({ first }) => ({ number: lines[first]?.number ?? 0, ...score.explain(first) })),
  };

  function excessOf({ text }: { text: string }): number {
    return Buffer.byteLength(text) - maxBytes;
  }
}

/** Those that are worth least, until so many bytes are gone; one at least. */
function dropLeast(units: Unit[], bytes: number, sizeOf: (unit: Unit) => number): Unit[] {
  const dropped = new Set<Unit>();
  let left = bytes;
  for (const unit of units.toSorted((a, b) => a.worth - b.worth)) {
    if (left <= 0) break;
    dropped.add(unit);
    left -= sizeOf(unit);
  }
  return units.filter((unit) => !dropped.has(unit));
}

/** What a passing log has, to tell what is new in a failing one. */
export function toReference(reservoir: Reservoir): ReadonlySet<number> {
  return new Set(readLines(reservoir.finish().pieces).map(({ text }) => templateOf(text)));
}

export { createReservoir };

/** Lines that matter are rarer in logs than among those the weights are fitted to. */
const RARITY = 2;
/** No line has more than this part of the room. */
const MAX_LINE_PART = 10;

function createScore(features: Features, weights: Weights) {
  const of = (at: number): number => {
    let score = weights.bias;
    features(at, (feature, value) => {
      score += weights[feature] * value;
    });
    return score;
  };
  const explain = (at: number) => {
    const reasons: Explained['reasons'] = [{ name: 'bias', score: weights.bias }];
    features(at, (name, value) => reasons.push({ name, score: weights[name] * value }));
    return { score: of(at), reasons: reasons.toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score)) };
  };
  return { of, explain };
}

/** Equal lines in a row become one. */
function toUnits(lines: readonly Line[], scoreAt: (at: number) => number): Unit[] {
  const units: Unit[] = [];
  lines.forEach(({ text, number }, at) => {
    const before = units.at(-1);
    if (before?.text === text && (lines[at - 1]?.number ?? 0) === number - 1) {
      before.last = at;
      return;
    }
    const worth = text === '' ? 0 : 1 / (1 + Math.exp(RARITY - scoreAt(at)));
    units.push({ first: at, last: at, text, worth });
  });
  return units;
}
