// The one engine: bytes go in, in whatever pieces, and come out without secrets, line by line where they were.
import { RUN, type Run } from './bytes.ts';
import { MAX_GAP_BYTES, MAX_OWN_BYTES, matchOwn } from './match-own.ts';
import type { Needle } from './own-secrets.ts';
import { FOUND, MAX_LOOK_BACK, MAX_RULE_BYTES, type Rule } from './rule.ts';
import type { Trigger, TriggerTable } from './triggers.ts';
import { KEY_LOOK_AHEAD, walkKey } from './walk-key.ts';

export interface Scanner {
  push(chunk: Uint8Array): Buffer;
  /** The rest. */
  end(): Buffer;
}

export interface ScanPlan {
  /** Asked each time: what is looked for can become more. */
  table: () => TriggerTable;
  /** Those that are asked where secrets of the first kind, and our own, count as found. */
  isSecond: (rule: Rule) => boolean;
  toPlaceholder: (kind: string) => string;
  /** Stars for each byte of a secret, so that nothing else has to move. */
  keepsLength: boolean;
  onFound: (kind: string) => void;
}

export const OWN_SECRET = 'own-secret';

/** A secret begins at most so far before the last of the four characters that raise suspicion. */
export const BACK = 4 * (MAX_GAP_BYTES + 1);
/** What a judgement may depend on behind those: what a rule looks at, and what in turn decides which of it is found. */
export const AHEAD = MAX_OWN_BYTES + 2 * (MAX_RULE_BYTES + BACK) + KEY_LOOK_AHEAD;
const CONTEXT = 2 * MAX_LOOK_BACK;
const LF = 0x0a;
const STAR = 0x2a;
/** What is held back is read again when more has come, so that should be much each time. */
const MORE = 256;

interface Span {
  start: number;
  end: number;
  kind: string;
  /** It goes on as long as bytes are of these. */
  run: Run | null;
  isOver: boolean;
}

interface Reading {
  text: string;
  bytes: Buffer;
}

interface Found {
  trigger: number;
  span: Span;
}

/**
 * What is judged depends only on the bytes around it, never on where a chunk ends: as long as not all of them are
 * there, it is held back, which is never more than a few kilobytes. Positions count from the beginning of the stream.
 */
export function createScanner(plan: ScanPlan): Scanner {
  let bytes: Buffer = Buffer.alloc(0);
  let coming: Buffer[] = [];
  let comingBytes = 0;
  /** Position of the first of them: some were written already and are kept for what stands before a secret. */
  let base = 0;
  let written = 0;
  /** Suspicions before this are judged for good. */
  let judged = 0;
  /** Before so many bytes are there, nothing more can be said. */
  let awaited = 0;
  /** Up to here, only line breaks are written. */
  let covered = -1;
  /** Stretches of one set of characters that were walked over. */
  const runs = new Map<Run, { from: number; to: number }>();
  let own: Span[] = [];
  let first: Span[] = [];
  let second: Span[] = [];

  function scan(isEnd: boolean): Buffer {
    const end = base + bytes.length;
    for (const span of [...first, ...second]) extend(span, isEnd);
    const triggers = plan.table().find(bytes, Math.max(0, written - base));
    const fresh = triggers.filter(({ at }) => base + at >= judged);
    const undecided = isEnd ? undefined : fresh.find(({ at }) => at + AHEAD > bytes.length);
    const nextJudged = isEnd ? end : Math.max(judged, undecided ? base + undecided.at : end);
    awaited = undecided ? base + undecided.at + AHEAD + MORE : 0;
    const isKept = ({ trigger }: Found): boolean => base + trigger < nextJudged;

    const newOwn = fresh.flatMap(findOwn);
    const all = toReading([...own, ...newOwn.map(({ span }) => span)]);
    const newFirst = findByRules(fresh, all, { isSecond: false, before: first, isEnd });
    const some = toReading([...own, ...first, ...[...newOwn, ...newFirst].map(({ span }) => span)], all);
    const newSecond = findByRules(fresh, some, { isSecond: true, before: second, isEnd });
    own.push(...newOwn.filter(isKept).map(({ span }) => span));
    first.push(...newFirst.filter(isKept).map(({ span }) => span));
    second.push(...newSecond.filter(isKept).map(({ span }) => span));
    judged = nextJudged;

    const open = first.find(({ run, isOver }) => run === RUN.pem && !isOver);
    const limit = isEnd ? end : Math.max(written, Math.min(judged - BACK, open?.end ?? end));
    const out = write(limit);
    const keepFrom = Math.max(base, limit - CONTEXT);
    const isOfUse = (span: Span): boolean => span.end > keepFrom;
    own = own.filter(isOfUse);
    first = first.filter(isOfUse);
    second = second.filter(isOfUse);
    bytes = bytes.subarray(keepFrom - base);
    base = keepFrom;
    return out;
  }

  function findOwn({ from, at, suspicion }: Trigger): Found[] {
    const found: Found[] = [];
    for (const needle of suspicion.needles) {
      const to = matchOwn(bytes, from, needle);
      if (to <= at) continue;
      const start = from - lengthOfEscape(bytes, from, needle);
      const span = { start: base + start, end: base + to, kind: OWN_SECRET, run: null, isOver: true };
      found.push({ trigger: at, span });
    }
    return found;
  }

  function findByRules(
    triggers: readonly Trigger[],
    text: () => Reading,
    { isSecond, before, isEnd }: { isSecond: boolean; before: readonly Span[]; isEnd: boolean },
  ): Found[] {
    const found: Found[] = [];
    const longest = new Map<Run | null, Span>();
    for (const span of before) if (!isPartOf(span, longest.get(span.run))) longest.set(span.run, span);
    for (const { at, suspicion } of triggers) {
      for (const { rule, behind } of suspicion.rules) {
        const place = at - 3 - behind;
        if (place < 0 || plan.isSecond(rule) !== isSecond) continue;
        if (rule.run && isWellWithin(longest.get(rule.run), base + place)) continue;
        const finding = rule.find(text().text, place, text().bytes);
        if (!finding) continue;
        const { start, end, run = null } = finding;
        const span = { start: base + start, end: base + end, kind: rule.kind, run, isOver: run === null };
        extend(span, isEnd);
        if (run && isPartOf(span, longest.get(run))) continue;
        longest.set(run, span);
        found.push({ trigger: at, span });
      }
    }
    return found;
  }

  /** Over what is there of it; its run is over when something else follows. */
  function extend(span: Span, isEnd: boolean): void {
    const { run } = span;
    if (!run || span.isOver) return;
    if (run === RUN.pem) {
      const { end, isOver } = walkKey(bytes, { start: span.start - base, from: span.end - base, isEnd });
      span.end = base + end;
      span.isOver = isOver;
      return;
    }
    const known = runs.get(run);
    // Many may begin within one run, and each would walk all of it.
    const isKnown = known && known.from <= span.end && span.end <= known.to;
    let at = (isKnown ? known.to : span.end) - base;
    while (at < bytes.length && run[bytes[at] ?? 0]) at += 1;
    runs.set(run, { from: isKnown ? known.from : span.end, to: base + at });
    span.end = base + at;
    span.isOver = at < bytes.length;
  }

  /** The text in which these are blanked, made when it is first asked for. */
  function toReading(spans: readonly Span[], unchanged?: () => Reading): () => Reading {
    let reading: Reading | undefined;
    return () => {
      reading ??= spans.length === 0 && unchanged ? unchanged() : blank(spans);
      return reading;
    };
  }

  function blank(spans: readonly Span[]): Reading {
    const copy = spans.length === 0 ? bytes : Buffer.from(bytes);
    for (const { start, end } of spans)
      copy.fill(FOUND.charCodeAt(0), Math.max(0, start - base), Math.max(0, end - base));
    return { text: copy.toString('latin1'), bytes: copy };
  }

  function write(limit: number): Buffer {
    const spans = [...own, ...first, ...second].filter(({ start }) => start < limit);
    spans.sort((a, b) => a.start - b.start);
    const room = spans.reduce((sum, { kind }) => sum + plan.toPlaceholder(kind).length, limit - written);
    const out = Buffer.allocUnsafe(room);
    let size = 0;
    const pass = (to: number): void => {
      const hidden = Math.min(Math.max(covered, written), to);
      for (let at = written - base; at < hidden - base; at += 1) {
        if (bytes[at] === LF) out[size++] = LF;
        else if (plan.keepsLength) out[size++] = STAR;
      }
      size += bytes.copy(out, size, Math.max(written, hidden) - base, to - base);
      written = to;
    };
    for (const { start, end, kind } of spans) {
      if (start > covered) {
        pass(start);
        size += out.write(plan.toPlaceholder(kind), size);
        plan.onFound(kind);
      }
      covered = Math.max(covered, end);
    }
    pass(limit);
    return out.subarray(0, size);
  }

  function take(): void {
    if (coming.length > 0) bytes = Buffer.concat([bytes, ...coming]);
    coming = [];
    comingBytes = 0;
  }

  return {
    push(chunk) {
      coming.push(Buffer.from(chunk));
      comingBytes += chunk.length;
      if (base + bytes.length + comingBytes < awaited) return NOTHING;
      take();
      return scan(false);
    },
    end() {
      take();
      return scan(true);
    },
  };
}

const NOTHING = Buffer.alloc(0);
const MAX_ESCAPE = 8;

/** Of what would be left before it to escape what takes its place. */
function lengthOfEscape(bytes: Buffer, at: number, { isHex }: Needle): number {
  if (!isHex) return at > 0 && bytes[at - 1] === 0x5c ? 1 : 0;
  const before = bytes.toString('latin1', Math.max(0, at - MAX_ESCAPE), at);
  return /(?:\\+(?:u00|x)?|%(?:25)?|&#x|0x)$/i.exec(before)?.[0].length ?? 0;
}

function isPartOf(span: Span, other: Span | undefined): boolean {
  return other !== undefined && other.start <= span.start && span.end <= other.end;
}

/** What a rule finds here, and goes on with the same characters, is a part of it. */
function isWellWithin(span: Span | undefined, place: number): boolean {
  return span !== undefined && span.start <= place - MAX_LOOK_BACK && place + MAX_LOOK_BACK < span.end;
}
