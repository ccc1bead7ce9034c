// What is known of each line of a log, as numbers with names: what it looks like, where it stands, what is around it.
import { findFailingCommand } from './failing-command.ts';
import type { Line } from './read-lines.ts';
import { RECOGNISERS, SIGNS } from './recognisers.ts';
import { kindOf, templateOf } from './templates.ts';

export const FEATURES = [
  ...RECOGNISERS.map(([name]) => name),
  'blank',
  'short',
  'long',
  'indented',
  'repeated-3',
  'repeated-10',
  'repeated-100',
  'seen-before',
  'kind-3',
  'kind-10',
  'kind-100',
  'kind-seen-before',
  'captured',
  'rare-sign',
  'mid-trace',
  'end-within-3',
  'end-within-10',
  'end-within-30',
  'end-within-100',
  'end-within-300',
  'after-the-end',
  'long-after-the-end',
  'in-failing-command',
  'first-tenth',
  'after-1',
  'after-3',
  'after-8',
  'after-20',
  'before-1',
  'before-3',
  'before-8',
  'continues',
  'same-paragraph',
  'heading',
  'same-text-before',
  'first-sign',
  'near-first-sign',
  'early-sign',
  'late-sign',
  'last-sign',
  'new',
  'not-new',
] as const satisfies readonly string[];

export type Visit = (feature: number, value: number) => void;

export interface Features {
  count: number;
  visit(at: number, visit: Visit): void;
  strengthOf(at: number): number;
  templateOf(at: number): number;
  failing: { start: number; end: number };
}

const ID = Object.fromEntries(FEATURES.map((name, id) => [name, id])) as Record<string, number>;
const id = (name: string): number => ID[name] ?? -1;
/** From here on a line is a sign by itself. */
const STRONG = 2.5;
const MAX_STRENGTH = 6;
/** Whether any sign can be in a line at all; most have none. */
const MAYBE =
  /[Ee]rr|ERR|[Ff]ail|FAIL|xcept|xpect|[Aa]ssert|ssume|panic|[Ff]atal|FATAL|[Kk]ill|SIG|ignal|[Dd]enied|[Ff]orbid|[Uu]nauth|[Nn]ot |n't|[Uu]nable|[Cc]annot|[Mm]iss|[Tt]ime|TIME|[Uu]nde|[Uu]nres|[Uu]nexp|[Uu]nsup|[Uu]nrec|[Uu]nhan|[Uu]ncau|[Uu]nkn|[Ii]nval|[Mm]alf|[Ss]yntax|[Pp]ars|[Cc]onfl|[Ii]ncomp|[Mm]ismatch|MISM|[Oo]ut of|No |no |[Mm]emory|OOM|quota|limit|[Cc]onnection|ECONN|ETIME|ENOT|EAI|EACC|EPERM|TLS|SSL|cert|[Ss]tat|exit|[Rr]etur|Traceback|Caused|Suppressed|raise|throw|goroutine|terminate|Abort|abort|Sanitizer|smash|free|Bus|Illegal|BUILD|[Bb]uild|[Cc]ompil|went wrong|Target|Command|rake|Tests|tests|[Rr]esult|Found|problem|DONE|SEVERE|CRIT|violat|ulnerab|roken|orrupt|reject|allowed|giving|[Gg]ave|must|require|lock|reformat|solv|peer|[✕✖✗×❌✘●✓✔√·|│^~]|\d\) |:\d|\.\d|0x|^\s*[-+@=_#>]|^\s+(?:at|from|in|File|\.\.\.|\d)|not ok|left|right|got|want|[Aa]ctual|iffer|[Dd]isallow|[Ss]everity|^E |\d{3}/;

export function findFeatures(lines: readonly Line[], known: ReadonlySet<number> | null): Features {
  const count = lines.length;
  const failing = findFailingCommand(lines);
  const templates = new Int32Array(count);
  const counts = new Map<number, number>();
  const earlier = new Uint32Array(count);
  const kinds = new Int32Array(count);
  const kindCounts = new Map<number, number>();
  const kindEarlier = new Uint32Array(count);
  const own: (readonly number[])[] = [];
  // Lines of the same kind look the same to all of them.
  const recognised = new Map<number, readonly number[]>();
  const strength = new Float32Array(count);
  const indent = new Uint16Array(count);
  const texts = new Set<string>();
  const repeats = new Uint8Array(count);
  lines.forEach(({ text }, at) => {
    const template = templateOf(text);
    templates[at] = template;
    const before = counts.get(template) ?? 0;
    earlier[at] = before;
    counts.set(template, before + 1);
    const kind = kindOf(text);
    kinds[at] = kind;
    const ofKind = kindCounts.get(kind) ?? 0;
    kindEarlier[at] = ofKind;
    kindCounts.set(kind, ofKind + 1);
    indent[at] = text.length - text.trimStart().length;
    if (text.length > 12 && before > 0 && texts.has(text)) repeats[at] = 1;
    else texts.add(text);
    const found = recognised.get(template) ?? recognise(text);
    recognised.set(template, found);
    own.push(found);
    strength[at] = strengthOfAll(found);
  });
  for (let at = 0; at < count; at += 1) {
    const value = strength[at] ?? 0;
    // What happens again and again does not explain why it happened this time.
    const often = kindCounts.get(kinds[at] ?? 0) ?? 1;
    const isIgnored = IGNORING.test(lines[at + 1]?.text ?? '') || known?.has(templates[at] ?? 0);
    strength[at] = isIgnored
      ? 0
      : Math.max(0, Math.min(MAX_STRENGTH, value)) / Math.min(4, often ** OFTEN_POWER);
  }
  const rawSigns = own.filter((found) => strengthOfAll(found) >= STRONG).length;
  /** One of a few among many: the odd one out. */
  const isRareSign = (at: number): boolean =>
    rawSigns >= MANY &&
    (kindCounts.get(kinds[at] ?? 0) ?? 1) <= FEW &&
    strengthOfAll(own[at] ?? NOTHING) >= STRONG &&
    !known?.has(templates[at] ?? 0);
  const captured = findCaptured(lines);
  for (let at = 0; at < count; at += 1) if (captured[at]) strength[at] = (strength[at] ?? 0) / 3;
  const isStrong = (at: number): boolean => (strength[at] ?? 0) >= STRONG;
  const strongBefore = countFrom(count, isStrong);
  const lastStrong = findLast(count, isStrong);
  const { continues, paragraph } = findBlocks(lines, { indent, isStrong });
  const midTrace = findMidTrace(own);
  const headings = findHeadings(lines, isStrong);
  const inFailing = { from: strongBefore[failing.start] ?? 0, to: strongBefore[failing.end + 1] ?? 0 };

  return {
    count,
    failing,
    strengthOf: (at) => strength[at] ?? 0,
    templateOf: (at) => templates[at] ?? 0,
    visit(at, visit) {
      const { text } = lines[at] ?? { text: '' };
      const isKnown = known?.has(templates[at] ?? 0) ?? false;
      // What a passing job says, too, is no sign of anything.
      const found = own[at] ?? NOTHING;
      const signs = found.filter((one) => one < SIGNS.length).length;
      // Two signs in a line say more than one, but not twice as much.
      for (const one of found) {
        if (one >= SIGNS.length) visit(one, 1);
        else if (!isKnown) visit(one, 1 / Math.sqrt(signs));
      }
      if (text === '') visit(BLANK, 1);
      else if (text.length < 5) visit(SHORT, 1);
      else if (text.length > 300) visit(LONG, 1);
      if ((indent[at] ?? 0) > 1) visit(INDENTED, 1);
      const often = counts.get(templates[at] ?? 0) ?? 1;
      if (often >= 3) visit(REPEATED_3, 1);
      if (often >= 10) visit(REPEATED_10, 1);
      if (often >= 100) visit(REPEATED_100, 1);
      if (often > 1) visit(SEEN_BEFORE, Math.min(1, Math.log2(1 + (earlier[at] ?? 0)) / 5));
      const ofKind = kindCounts.get(kinds[at] ?? 0) ?? 1;
      if (ofKind >= 3) visit(KIND_3, 1);
      if (ofKind >= 10) visit(KIND_10, 1);
      if (ofKind >= 100) visit(KIND_100, 1);
      if (ofKind > 1) visit(KIND_SEEN_BEFORE, Math.min(1, Math.log2(1 + (kindEarlier[at] ?? 0)) / 6));
      if (captured[at]) visit(CAPTURED, 1);
      if (isRareSign(at)) visit(RARE_SIGN, 1);
      if (midTrace[at]) visit(MID_TRACE, 1);
      const toEnd = failing.end - at;
      if (toEnd < 0) {
        visit(AFTER_END, 1);
        if (toEnd < -3) visit(LONG_AFTER_END, 1);
      } else {
        for (const [within, one] of NEAR) if (toEnd <= within) visit(one, 1);
        if (at >= failing.start) visit(IN_FAILING, 1);
      }
      if (at < count / 10) visit(FIRST_TENTH, 1);
      for (const [from, to, one] of BEHIND) visitMax(at - to, at - from, one, visit);
      for (const [from, to, one] of AHEAD) visitMax(at + from, at + to, one, visit);
      if (continues[at]) visit(CONTINUES, continues[at] / MAX_STRENGTH);
      if (paragraph[at]) visit(PARAGRAPH, paragraph[at] / MAX_STRENGTH);
      if (headings.has(at)) visit(HEADING_ABOVE, 1);
      if (repeats[at]) visit(SAME_TEXT_BEFORE, 1);
      if (at >= failing.start && at <= failing.end && inFailing.to > inFailing.from) {
        // The first error is the cause more often than what it brings about.
        const order = (strongBefore[at + 1] ?? 0) - inFailing.from;
        const left = inFailing.to - (strongBefore[at] ?? 0);
        const isNear = at - (lastStrong[at] ?? -REACH) < REACH;
        if (order === 1 && isNear) visit(isStrong(at) ? FIRST_SIGN : NEAR_FIRST_SIGN, 1);
        if (order >= 1 && order <= 5 && isNear) visit(EARLY_SIGN, 1);
        if (left >= 1 && left <= 5) visit(LATE_SIGN, 1);
        if (left === 1) visit(LAST_SIGN, 1);
      }
      if (known && text !== '') visit(isKnown ? NOT_NEW : NEW, 1);
    },
  };

  function visitMax(from: number, to: number, feature: number, visit: Visit): void {
    let most = 0;
    for (let at = Math.max(0, from); at <= Math.min(count - 1, to); at += 1)
      most = Math.max(most, strength[at] ?? 0);
    if (most > 0) visit(feature, most / MAX_STRENGTH);
  }
}

const BLANK = id('blank');
const SHORT = id('short');
const LONG = id('long');
const INDENTED = id('indented');
const REPEATED_3 = id('repeated-3');
const REPEATED_10 = id('repeated-10');
const REPEATED_100 = id('repeated-100');
const SEEN_BEFORE = id('seen-before');
const KIND_3 = id('kind-3');
const KIND_10 = id('kind-10');
const KIND_100 = id('kind-100');
const KIND_SEEN_BEFORE = id('kind-seen-before');
const CAPTURED = id('captured');
const RARE_SIGN = id('rare-sign');
const MID_TRACE = id('mid-trace');
const FRAME = id('frame');
const LIBRARY_FRAME = id('library-frame');
const AFTER_END = id('after-the-end');
const LONG_AFTER_END = id('long-after-the-end');
const IN_FAILING = id('in-failing-command');
const FIRST_TENTH = id('first-tenth');
const CONTINUES = id('continues');
const PARAGRAPH = id('same-paragraph');
const HEADING_ABOVE = id('heading');
const SAME_TEXT_BEFORE = id('same-text-before');
const FIRST_SIGN = id('first-sign');
const NEAR_FIRST_SIGN = id('near-first-sign');
const EARLY_SIGN = id('early-sign');
const LATE_SIGN = id('late-sign');
const LAST_SIGN = id('last-sign');
const NEW = id('new');
const NOT_NEW = id('not-new');
const NEAR = [3, 10, 30, 100, 300].map((within) => [within, id(`end-within-${within}`)] as const);
const BEHIND = [
  [1, 1, id('after-1')],
  [2, 3, id('after-3')],
  [4, 8, id('after-8')],
  [9, 20, id('after-20')],
] as const;
const AHEAD = [
  [1, 1, id('before-1')],
  [2, 3, id('before-3')],
  [4, 8, id('before-8')],
] as const;

/** How much a sign loses by being one of many of its kind. */
const OFTEN_POWER = 0.4;
/** What is said below an error that does not count. */
const IGNORING = /^\s*\.{3} ?ignoring/;

const NOTHING: readonly number[] = [];
const MANY = 12;
const FEW = 3;

function strengthOfAll(found: readonly number[]): number {
  return found.reduce((sum, one) => sum + (RECOGNISERS[one]?.[1] ?? 0), 0);
}

function recognise(text: string): readonly number[] {
  if (text === '') return NOTHING;
  const found: number[] = [];
  const from = MAYBE.test(text) ? 0 : SIGNS.length;
  for (let one = from; one < RECOGNISERS.length; one += 1)
    if (RECOGNISERS[one]?.[2].test(text)) found.push(one);
  return found.length === 0 ? NOTHING : found;
}

/** How many of the places before each one are such. */
function countFrom(count: number, isSuch: (at: number) => boolean): Uint32Array {
  const before = new Uint32Array(count + 1);
  for (let at = 0; at < count; at += 1) before[at + 1] = (before[at] ?? 0) + (isSuch(at) ? 1 : 0);
  return before;
}

/** The nearest such place at or before each one; far away when there is none. */
function findLast(count: number, isSuch: (at: number) => boolean): Int32Array {
  const last = new Int32Array(count);
  let nearest = -REACH;
  for (let at = 0; at < count; at += 1) {
    if (isSuch(at)) nearest = at;
    last[at] = nearest;
  }
  return last;
}

/** How far below the first sign lines still belong to it. */
const REACH = 12;
const HEADING =
  /^(?:TASK \[|PLAY \[|RUNNING HANDLER|> Task :|=== RUN|\[INFO\] Running |Running \S|\[RUN\]|\[ RUN|Test Case '|Test Suite '|##\[group\]Run |\$ |STEP \d+|#\d+ \[|Step \d+\/\d+|test \S+ \.{3}|● |FAIL |FAILED |\S+\.(?:[jt]sx?|py|rb|go|rs|java|cs|php|swift|kt|scala)\s*$|\S{1,120}: In (?:function|member)|In file included|\[INFO\] -{2,}.*(?:<|\()|error\[|warning: unused)/;
const MAX_ABOVE = 60;

const CAPTURED_HEAD = /^\s*console\.(?:error|warn|log|info|debug)\b/;
const CAPTURED_END = /^\s*(?:●|✓|✕|×|PASS\b|FAIL\b|Test Suites:)/;
const MAX_CAPTURED = 30;

/** What tests have printed while they ran, most often those that passed. */
function findCaptured(lines: readonly Line[]): Uint8Array {
  const captured = new Uint8Array(lines.length);
  let until = -1;
  lines.forEach(({ text }, at) => {
    if (CAPTURED_HEAD.test(text)) until = at + MAX_CAPTURED;
    else if (CAPTURED_END.test(text)) until = -1;
    if (at <= until) captured[at] = 1;
  });
  return captured;
}

const TRACE_START = 3;

/** Of a stack trace, what is neither its beginning nor the first frame in code of one's own. */
function findMidTrace(own: readonly (readonly number[])[]): Uint8Array {
  const mid = new Uint8Array(own.length);
  let length = 0;
  let hasOwn = false;
  own.forEach((found, at) => {
    if (!found.includes(FRAME)) {
      length = 0;
      hasOwn = false;
      return;
    }
    length += 1;
    const isOwn = !found.includes(LIBRARY_FRAME);
    if (length > TRACE_START && (hasOwn || !isOwn)) mid[at] = 1;
    hasOwn ||= isOwn;
  });
  return mid;
}

/** What was going on when a sign came. */
function findHeadings(lines: readonly Line[], isStrong: (at: number) => boolean): Set<number> {
  const found = new Set<number>();
  let heading = -MAX_ABOVE;
  lines.forEach(({ text }, at) => {
    if (isStrong(at) && at - heading <= MAX_ABOVE) found.add(heading);
    if (HEADING.test(text)) heading = at;
  });
  return found;
}

/** Lines that belong to a sign above them, since they are indented below it; and lines in one paragraph with a sign. */
function findBlocks(
  lines: readonly Line[],
  { indent, isStrong }: { indent: Uint16Array; isStrong: (at: number) => boolean },
): { continues: Uint8Array; paragraph: Uint8Array } {
  const continues = new Uint8Array(lines.length);
  const paragraph = new Uint8Array(lines.length);
  let head = -1;
  let start = 0;
  let hasSign = false;
  const endParagraph = (end: number): void => {
    // A whole screen of text is no paragraph.
    if (hasSign && end - start <= 40) paragraph.fill(MAX_STRENGTH, start, end);
    start = end + 1;
    hasSign = false;
  };
  lines.forEach(({ text }, at) => {
    if (text === '') {
      endParagraph(at);
      return;
    }
    if (isStrong(at)) {
      hasSign = true;
      head = at;
      return;
    }
    if (head < 0) return;
    if ((indent[at] ?? 0) > (indent[head] ?? 0) && at - head <= 60) continues[at] = MAX_STRENGTH;
    else head = -1;
  });
  endParagraph(lines.length);
  return { continues, paragraph };
}
