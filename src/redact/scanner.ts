// The one engine: bytes go in, in whatever pieces, and come out without secrets, line by line where they were.
import { FOLDED, RUN, type Run } from './bytes.ts';
import { MAX_GAP_BYTES, MAX_OWN_BYTES, matchOwn } from './match-own.ts';
import type { Needle } from './own-secrets.ts';
import { FOUND, MAX_LOOK_BACK, MAX_RULE_BYTES, type Rule } from './rule.ts';
import type { Trigger, TriggerTable } from './triggers.ts';

export interface Scanner {
  push(chunk: Uint8Array): Buffer;
  /** The rest. */
  end(): Buffer;
}

export interface ScanPlan {
  table: TriggerTable;
  /** Those that are asked where secrets of the first kind, and our own, count as found. */
  isSecond: (rule: Rule) => boolean;
  toPlaceholder: (kind: string) => string;
  /** Stars for each byte of a secret, so that nothing else has to move. */
  keepsLength: boolean;
  onFound: (kind: string) => void;
}

export const OWN_SECRET = 'own-secret';

/** A secret begins at most so far before the last of the four characters that raise suspicion. */
const BACK = 4 * (MAX_GAP_BYTES + 1);
/** What a judgement may depend on behind those: what a rule looks at, and what in turn decides which of it is found. */
const AHEAD = MAX_OWN_BYTES + 2 * (MAX_RULE_BYTES + BACK);
const CONTEXT = 2 * MAX_LOOK_BACK;
const LF = 0x0a;
const STAR = 0x2a;

interface Span {
  start: number;
  end: number;
  kind: string;
  /** It goes on as long as bytes are of these. */
  run: Run | null;
}

/**
 * What is judged depends only on the bytes around it, never on where a chunk ends: as long as not all of them are
 * there, it is held back, which is never more than a few kilobytes. Positions count from the beginning of the stream.
 */
export function createScanner(plan: ScanPlan): Scanner {
  let bytes: Buffer = Buffer.alloc(0);
  /** Position of the first of them: some were written already and are kept for what stands before a secret. */
  let base = 0;
  let written = 0;
  /** Suspicions before this are judged for good. */
  let judged = 0;
  /** Up to here, only line breaks are written. */
  let covered = -1;
  /** Stretches of one set of characters that were walked over. */
  const runs = new Map<Run, { from: number; to: number }>();
  let own: Span[] = [];
  let first: Span[] = [];
  let second: Span[] = [];

  function scan(isEnd: boolean): Buffer {
    const end = base + bytes.length;
    for (const span of [...first, ...second]) extend(span);
    const triggers = plan.table.find(bytes, Math.max(0, written - base));
    const fresh = triggers.filter(({ at }) => base + at >= judged);
    const undecided = isEnd ? undefined : fresh.find(({ at }) => at + AHEAD > bytes.length);
    const nextJudged = isEnd ? end : Math.max(judged, undecided ? base + undecided.at : end);
    const isKept = ({ trigger }: { trigger: number }): boolean => base + trigger < nextJudged;

    const newOwn = fresh.flatMap(findOwn);
    const all = toText([...own, ...newOwn.map(({ span }) => span)]);
    const newFirst = findByRules(fresh, all, false);
    const some = toText([...own, ...first, ...[...newOwn, ...newFirst].map(({ span }) => span)], all);
    const newSecond = findByRules(fresh, some, true);
    own.push(...newOwn.filter(isKept).map(({ span }) => span));
    first.push(...newFirst.filter(isKept).map(({ span }) => span));
    second.push(...newSecond.filter(isKept).map(({ span }) => span));
    judged = nextJudged;

    const limit = isEnd ? end : Math.max(written, judged - BACK);
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

  function findOwn({ at, suspicion }: Trigger): { trigger: number; span: Span }[] {
    const found: { trigger: number; span: Span }[] = [];
    for (const needle of suspicion.needles) {
      const start = findStart(needle, at);
      if (start === null) continue;
      const span = { start: base + start.from, end: base + start.to, kind: OWN_SECRET, run: null };
      found.push({ trigger: at, span });
    }
    return found;
  }

  /** The nearest place from which the secret reaches over the four characters. */
  function findStart(needle: Needle, at: number): { from: number; to: number } | null {
    for (let from = at; from >= Math.max(0, at - BACK + 1); from -= 1) {
      if (!FOLDED[bytes[from] ?? 0]) continue;
      const to = matchOwn(bytes, from, needle);
      // A backslash before it would be left to escape what takes its place.
      if (to > at) return { from: from > 0 && bytes[from - 1] === 0x5c ? from - 1 : from, to };
    }
    return null;
  }

  function findByRules(triggers: readonly Trigger[], text: () => string, isSecond: boolean) {
    const found: { trigger: number; span: Span }[] = [];
    for (const { at, suspicion } of triggers) {
      for (const { rule, behind } of suspicion.rules) {
        const place = at - 3 - behind;
        const finding = place >= 0 && plan.isSecond(rule) === isSecond ? rule.find(text(), place) : null;
        if (!finding) continue;
        const { start, end, run = null } = finding;
        const span = { start: base + start, end: base + end, kind: rule.kind, run };
        extend(span);
        found.push({ trigger: at, span });
      }
    }
    return found;
  }

  /** Over what is there of it; its run is over when something else follows. */
  function extend(span: Span): void {
    const { run } = span;
    if (!run) return;
    const known = runs.get(run);
    // Many may begin within one run, and each would walk all of it.
    const isKnown = known && known.from <= span.end && span.end <= known.to;
    let at = (isKnown ? known.to : span.end) - base;
    while (at < bytes.length && run[bytes[at] ?? 0] && !(run === RUN.pem && isBehindKey(at))) at += 1;
    runs.set(run, { from: isKnown ? known.from : span.end, to: base + at });
    span.end = base + at;
    if (at < bytes.length) span.run = null;
  }

  function isBehindKey(at: number): boolean {
    if (bytes[at - 1] !== 0x2d) return false;
    return /-----END [A-Z0-9 ]{0,40}-----$/.test(bytes.toString('latin1', Math.max(0, at - 64), at));
  }

  /** The text in which these are blanked, made when it is first asked for. */
  function toText(spans: readonly Span[], unchanged?: () => string): () => string {
    let text: string | undefined;
    return () => {
      text ??= spans.length === 0 && unchanged ? unchanged() : blank(spans);
      return text;
    };
  }

  function blank(spans: readonly Span[]): string {
    if (spans.length === 0) return bytes.toString('latin1');
    const copy = Buffer.from(bytes);
    for (const { start, end } of spans)
      copy.fill(FOUND.charCodeAt(0), Math.max(0, start - base), Math.max(0, end - base));
    return copy.toString('latin1');
  }

  function write(limit: number): Buffer {
    const spans = [...own, ...first, ...second].filter(({ start }) => start < limit);
    const parts: Buffer[] = [];
    const pass = (to: number): void => {
      const hidden = Math.min(Math.max(covered, written), to);
      if (hidden > written) parts.push(hide(bytes.subarray(written - base, hidden - base)));
      if (to > hidden) parts.push(bytes.subarray(hidden - base, to - base));
      written = to;
    };
    for (const { start, end, kind } of spans.toSorted((a, b) => a.start - b.start)) {
      if (start > covered) {
        pass(start);
        parts.push(Buffer.from(plan.toPlaceholder(kind)));
        plan.onFound(kind);
      }
      covered = Math.max(covered, end);
    }
    pass(limit);
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  function hide(secret: Buffer): Buffer {
    if (!plan.keepsLength) return Buffer.from(secret.filter((byte) => byte === LF));
    return Buffer.from(secret.map((byte) => (byte === LF ? LF : STAR)));
  }

  return {
    push(chunk) {
      bytes = bytes.length === 0 ? Buffer.from(chunk) : Buffer.concat([bytes, chunk]);
      return scan(false);
    },
    end: () => scan(true),
  };
}
