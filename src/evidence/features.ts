// What is known of each line of a log, as numbers with names: what it looks like, where it stands, what is around it.
import { findFailingCommand } from './failing-command.ts';
import type { Line } from './read-lines.ts';
import { isSign, recognise, strengthOf } from './recognise.ts';
import type { Recogniser } from './recognisers.ts';
import { rankSigns, STRONG } from './signs.ts';
import {
  findCaptured,
  findContinuations,
  findHeadings,
  findMidTrace,
  findParagraphs,
  indentOf,
} from './surroundings.ts';
import { type Tally, tallyLines } from './tally.ts';
import type { Feature } from './weights.ts';

export type Visit = (feature: Feature, value: number) => void;

/** Tells all there is to know of the line at this place. */
export type Features = (at: number, visit: Visit) => void;

const MAX_STRENGTH = 6;
/** What is said below an error that does not count. */
const IGNORING = /^\s*\.{3} ?ignoring/;

/** `known` are the templates of a log of the same job that passed. */
export function findFeatures(lines: readonly Line[], known: ReadonlySet<number> | null): Features {
  const tally = tallyLines(lines);
  const isKnown = (at: number): boolean => known?.has(tally.templateOf(at)) ?? false;
  const found = recogniseAll(lines, tally);
  const isCaptured = findCaptured(lines);
  const strength = Float32Array.from(lines, (_, at) => {
    if (isKnown(at) || IGNORING.test(lines[at + 1]?.text ?? '')) return 0;
    const value = Math.max(0, Math.min(MAX_STRENGTH, strengthOf(found[at] ?? [])));
    return value / weaken(tally.ofKind(at).total) / (isCaptured(at) ? 3 : 1);
  });
  const failing = findFailingCommand(lines);
  const signs = rankSigns(strength, failing);
  const isMidTrace = findMidTrace(found);
  const isHeading = findHeadings(lines, signs.isStrong);
  const continues = findContinuations(lines, signs.isStrong);
  const isInParagraph = findParagraphs(lines, signs.isStrong);
  const isRare = findRareSigns(found, tally);

  return (at, visit) => {
    const text = lines[at]?.text ?? '';
    visitLooks(found[at] ?? [], visit, isKnown(at));
    if (text === '') visit('blank', 1);
    else if (text.length < 5) visit('short', 1);
    else if (text.length > 300) visit('long', 1);
    if (indentOf(text) > 1) visit('indented', 1);
    visitFrequency(at, tally, visit);
    if (isCaptured(at)) visit('captured', 1);
    if (isRare(at) && !isKnown(at)) visit('rare-sign', 1);
    if (isMidTrace(at)) visit('mid-trace', 1);
    if (isHeading(at)) visit('heading', 1);
    if (continues(at)) visit('continues', 1);
    if (isInParagraph(at)) visit('same-paragraph', 1);
    if (at < lines.length / 10) visit('first-tenth', 1);
    visitPlace(failing.end - at, visit);
    if (at >= failing.start && at <= failing.end) visit('in-failing-command', 1);
    if (at === failing.start && at > 0) visit('failing-command', 1);
    for (const [from, to, feature] of NEIGHBOURS) {
      const most = signs.strongest(at + from, at + to);
      if (most > 0) visit(feature, most / MAX_STRENGTH);
    }
    signs.visit(at, visit);
    if (known && text !== '') visit(isKnown(at) ? 'not-new' : 'new', 1);
  };
}

/** Where the strongest sign is looked for, from the line on. */
const NEIGHBOURS: readonly (readonly [from: number, to: number, Feature])[] = [
  [-1, -1, 'after-1'],
  [-3, -2, 'after-3'],
  [-8, -4, 'after-8'],
  [-20, -9, 'after-20'],
  [1, 1, 'before-1'],
  [2, 3, 'before-3'],
  [4, 8, 'before-8'],
];

/** Lines that differ in their numbers only look the same to every recogniser; which numbers matter, templates know. */
function recogniseAll(lines: readonly Line[], { templateOf }: Tally): (readonly Recogniser[])[] {
  const known = new Map<number, readonly Recogniser[]>();
  return lines.map(({ text }, at) => {
    const template = templateOf(at);
    const found = known.get(template) ?? recognise(text);
    known.set(template, found);
    return found;
  });
}

/** What happens again and again does not explain why it happened this time. */
function weaken(often: number): number {
  return Math.min(4, often ** 0.4);
}

function visitLooks(found: readonly Recogniser[], visit: Visit, isKnown: boolean): void {
  // Two signs in a line say more than one, but not twice as much.
  const part = 1 / Math.sqrt(found.filter(isSign).length);
  for (const one of found) {
    if (!isSign(one)) visit(one[0], 1);
    // What a passing job says, too, is no sign of anything.
    else if (!isKnown) visit(one[0], part);
  }
}

function visitFrequency(at: number, tally: Tally, visit: Visit): void {
  const alike = tally.alike(at);
  if (alike.total >= 10) visit('repeated-10', 1);
  if (alike.total >= 100) visit('repeated-100', 1);
  if (alike.total > 1) visit('seen-before', Math.min(1, Math.log2(1 + alike.before) / 5));
  const kind = tally.ofKind(at);
  if (kind.total >= 3) visit('kind-3', 1);
  if (kind.total >= 10) visit('kind-10', 1);
  if (kind.total >= 100) visit('kind-100', 1);
  if (kind.total > 1) visit('kind-seen-before', Math.min(1, Math.log2(1 + kind.before) / 6));
  if (tally.isRepeated(at)) visit('same-text-before', 1);
}

function visitPlace(toEnd: number, visit: Visit): void {
  if (toEnd < 0) visit('after-the-end', 1);
  if (toEnd < -3) visit('long-after-the-end', 1);
  if (toEnd < 0) return;
  if (toEnd <= 3) visit('end-within-3', 1);
  if (toEnd <= 10) visit('end-within-10', 1);
  if (toEnd <= 30) visit('end-within-30', 1);
  if (toEnd <= 100) visit('end-within-100', 1);
  if (toEnd <= 300) visit('end-within-300', 1);
}

const MANY = 12;
const FEW = 3;

/** One of a few of its kind among many signs: the odd one out. */
function findRareSigns(
  found: readonly (readonly Recogniser[])[],
  { ofKind }: Tally,
): (at: number) => boolean {
  const isStrong = (recognised: readonly Recogniser[]): boolean => strengthOf(recognised) >= STRONG;
  const hasMany = found.filter(isStrong).length >= MANY;
  return (at) => hasMany && ofKind(at).total <= FEW && isStrong(found[at] ?? []);
}
