// Holds what a note claims against what the data sources have said.
import type { Document } from './documents.ts';
import { type Claims, findClaims, type Quote } from './find-claims.ts';
import type { JobLink } from './find-links.ts';
import { distance, type Match } from './match-quotes.ts';
import { type Piece, toPieces } from './quote-pattern.ts';
import { type Searched, type SearchLimits, type SearchResult, searchDocuments } from './search-documents.ts';

export interface CheckedNote {
  quotes: CheckedQuote[];
  links: CheckedLink[];
}

export interface CheckedQuote {
  quote: Quote;
  verdict: /** Numbers in front of its lines that are wrong, and the right ones. */
    | { kind: 'verified'; corrections: { at: number; wrong: number; right: number }[] }
    | { kind: 'not-found' }
    /** In the log of another job than the one it is said to be from. */
    | { kind: 'elsewhere'; job: number | 'unnamed' }
    | { kind: 'unknown'; reason: string };
}

export interface CheckedLink {
  link: JobLink;
  verdict:
    | { kind: 'fine' }
    /** Of no pipeline of the merge request. */
    | { kind: 'foreign' }
    /** One of too many. */
    | { kind: 'unchecked' }
    /** The job is right, the line is not; null when nobody knows a better one. */
    | { kind: 'wrong-line'; right: number | null; reason: string };
}

export interface CheckOptions {
  documents: readonly Document[];
  /** Which of these are jobs of the merge request's pipelines, by their addresses; what nobody knows is left out. */
  findOwnJobs: (links: readonly JobLink[], signal: AbortSignal) => Promise<ReadonlyMap<string, boolean>>;
  signal: AbortSignal;
  limits?: SearchLimits;
}

/** How far from its line a quote may stand. */
const NEAR = 5;
/** Nobody reads more; the rest counts as unverified. */
const MAX_QUOTES = 60;
const MAX_LINKS = 60;

export async function checkNote(text: string, options: CheckOptions): Promise<CheckedNote> {
  const { quotes, links } = findTelling(findClaims(text));
  if (quotes.length === 0 && links.length === 0) return { quotes: [], links: [] };
  const { documents, findOwnJobs, signal, limits } = options;
  const wanted = quotes
    .slice(0, MAX_QUOTES)
    .map(({ quote, pieces }) => ({ pieces, near: quote.link?.line ?? null }));
  const searching = searchDocuments(linkedFirst(documents, links), wanted, {
    signal,
    ...(limits && { limits }),
  });
  const asked = new Map([...new Map(links.map((link) => [link.url, link]))].slice(0, MAX_LINKS));
  const [result, own] = await Promise.all([searching, findOwnJobs([...asked.values()], signal)]);
  const found = quotes.map(({ quote, pieces }, index) => {
    const match = findMatch(quote, index, result);
    return { quote, match, verdict: judge(quote, pieces, match, result) };
  });
  return {
    quotes: found.map(({ quote, verdict }) => ({ quote, verdict })),
    links: links.map((link) => {
      if (!asked.has(link.url)) return { link, verdict: { kind: 'unchecked' } };
      if (own.get(link.url) === false) return { link, verdict: { kind: 'foreign' } };
      const below = found.find(({ quote, match }) => quote.link === link && match?.isOwn)?.match ?? null;
      return { link, verdict: judgeLine(link, below, result) };
    }),
  };
}

function findTelling({ quotes, links }: Claims): {
  quotes: { quote: Quote; pieces: Piece[] }[];
  links: JobLink[];
} {
  const patterns = quotes.map((quote) => ({ quote, pieces: toPieces(quote) }));
  return { quotes: patterns.filter(({ pieces }) => pieces.length > 0), links };
}

/** They matter most, should the time not suffice for all. */
function linkedFirst(documents: readonly Document[], links: readonly JobLink[]): Document[] {
  const linked = new Set<Document['job']>(links.map(({ jobId }) => jobId));
  return documents.toSorted((a, b) => Number(linked.has(b.job)) - Number(linked.has(a.job)));
}

interface Found extends Match {
  document: Document;
  /** In the log of the job that the quote is linked to. */
  isOwn: boolean;
}

/** In the log it is said to be from, if it is there; else in what is no job's log; else anywhere. */
function findMatch({ link }: Quote, index: number, { searched }: SearchResult): Found | null {
  const rank = ({ document }: Searched): number =>
    link !== null && document.job === link.jobId ? 0 : document.job === null ? 1 : 2;
  const [best] = searched.filter(({ matches }) => matches[index]).toSorted((a, b) => rank(a) - rank(b));
  const match = best?.matches[index];
  if (!best || !match) return null;
  return { ...match, document: best.document, isOwn: rank(best) === 0 };
}

function judge(
  { link }: Quote,
  pieces: readonly Piece[],
  match: Found | null,
  { unread }: SearchResult,
): CheckedQuote['verdict'] {
  if (!match) {
    const [missing] = unread.toSorted(
      (a, b) => Number(isOf(link, b.document)) - Number(isOf(link, a.document)),
    );
    return missing ? { kind: 'unknown', reason: missing.reason } : { kind: 'not-found' };
  }
  const { document } = match;
  if (link && document.job !== null && !match.isOwn) return { kind: 'elsewhere', job: document.job };
  return { kind: 'verified', corrections: document.kind === 'log' ? findCorrections(pieces, match) : [] };
}

function isOf(link: JobLink | null, { job }: Document): boolean {
  return link !== null && job === link.jobId;
}

function findCorrections(pieces: readonly Piece[], { lines, isNumbered }: Match) {
  return pieces.flatMap(({ claimed, at }, index) => {
    const right = lines[index];
    if (claimed === null || right === undefined || !isNumbered[index] || right === claimed) return [];
    return [{ at, wrong: claimed, right }];
  });
}

function judgeLine(link: JobLink, below: Match | null, { searched }: SearchResult): CheckedLink['verdict'] {
  if (link.line === null) return { kind: 'fine' };
  if (below) {
    if (distance(below, link.line) <= NEAR) return { kind: 'fine' };
    return { kind: 'wrong-line', right: below.lines[0] ?? null, reason: 'the quote below it is elsewhere' };
  }
  const log = searched.find(({ document }) => document.job === link.jobId && document.kind === 'log');
  if (!log) return { kind: 'wrong-line', right: null, reason: 'that log was not fetched, or is gone' };
  if (Math.max(link.line, link.lastLine ?? 0) <= log.lineCount && link.line > 0) return { kind: 'fine' };
  return { kind: 'wrong-line', right: null, reason: `the log has ${log.lineCount} lines` };
}
