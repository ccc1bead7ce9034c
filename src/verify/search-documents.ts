import { createHash } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import type { Document } from './documents.ts';
import { createMatcher, type Match, type Wanted } from './match-quotes.ts';
import { countTelling, normalize, type Piece, TELLING } from './quote-pattern.ts';

export interface Searched {
  document: Document;
  lineCount: number;
  /** In the order of what was wanted. */
  matches: (Match | null)[];
}

export interface SearchResult {
  searched: Searched[];
  /** What could not be looked into, and why. */
  unread: { document: Document; reason: string }[];
}

export interface SearchLimits {
  maxTotalBytes: number;
  maxMs: number;
}

export const SEARCH_LIMITS: SearchLimits = { maxTotalBytes: 512 * 1024 * 1024, maxMs: 30_000 };

interface Search {
  wanted: readonly Wanted[];
  signal: AbortSignal;
  endsAt: number;
}

/** One document after the other, and of each only a part at a time is in memory. */
export async function searchDocuments(
  documents: readonly Document[],
  wanted: readonly Wanted[],
  { signal, limits = SEARCH_LIMITS }: { signal: AbortSignal; limits?: SearchLimits },
): Promise<SearchResult> {
  const result: SearchResult = { searched: [], unread: [] };
  const search: Search = { wanted, signal, endsAt: performance.now() + limits.maxMs };
  let leftBytes = limits.maxTotalBytes;
  for (const document of documents) {
    signal.throwIfAborted();
    if (document.bytes > leftBytes) {
      result.unread.push({ document, reason: `${document.name} is too large to be checked` });
      continue;
    }
    leftBytes -= document.bytes;
    const searched = await searchDocument(document, search);
    if ('reason' in searched) result.unread.push({ document, ...searched });
    else result.searched.push({ document, ...searched });
  }
  return result;
}

/** What was found counts only once all of it turned out to be what was fetched. */
async function searchDocument(
  document: Document,
  { wanted: all, signal, endsAt }: Search,
): Promise<Omit<Searched, 'document'> | { reason: string }> {
  const wanted = withoutEchoes(all, document);
  const matcher = createMatcher(wanted);
  /** In JSON the lines of a text are one line, with its signs escaped: there they are looked for once more. */
  const unescaped = document.kind === 'json' ? createMatcher(wanted) : null;
  const hash = createHash('sha256');
  const lines = createLines((line) => {
    matcher.add(line);
    if (unescaped) for (const one of toUnescaped(line)) unescaped.add(one);
  });
  let bytes = 0;
  for await (const chunk of document.open()) {
    signal.throwIfAborted();
    if (performance.now() > endsAt) return { reason: `there was no time left to check ${document.name}` };
    bytes += chunk.length;
    if (bytes > document.bytes) break;
    hash.update(chunk);
    lines.add(chunk);
    // A stream that has everything ready would keep all others waiting.
    await pause();
  }
  lines.end();
  const isTrue = bytes === document.bytes && [null, hash.digest('hex')].includes(document.sha256);
  if (!isTrue) return { reason: `${document.name} is gone, or no longer what was fetched into it` };
  const more = unescaped?.matches() ?? [];
  const matches = matcher.matches().map((match, index) => match ?? more[index] ?? null);
  return { lineCount: matcher.lineCount(), matches };
}

/** A log says nothing because it was asked; of other answers, what only repeats the question proves nothing. */
function withoutEchoes(wanted: readonly Wanted[], { job, asked }: Document): readonly Wanted[] {
  if (job !== null || asked.length === 0) return wanted;
  const echoes = asked.flatMap((text) => text.split('\n')).map(normalize);
  const isEcho = ({ texts }: Piece): boolean =>
    texts.every((text) => countTelling(text) >= TELLING && echoes.some((echo) => echo.includes(text)));
  return wanted.map((one) => (one.pieces.some(isEcho) ? { ...one, pieces: [] } : one));
}

/** Of a longer line the rest is not looked at. */
const MAX_LINE_BYTES = 256 * 1024;
const LINE_END = 10;

/** Cuts chunks into lines. */
function createLines(onLine: (line: string) => void) {
  let open: Buffer[] = [];
  let openBytes = 0;
  const take = (part: Buffer): void => {
    const room = MAX_LINE_BYTES - openBytes;
    if (part.length === 0 || room <= 0) return;
    open.push(part.subarray(0, room));
    openBytes += Math.min(part.length, room);
  };
  const endLine = (): void => {
    onLine(Buffer.concat(open).toString());
    open = [];
    openBytes = 0;
  };
  return {
    add(chunk: Buffer): void {
      let start = 0;
      for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
        take(chunk.subarray(start, end));
        endLine();
        start = end + 1;
      }
      take(chunk.subarray(start));
    },
    /** What follows the last end of a line is one, too. */
    end(): void {
      if (openBytes > 0) endLine();
    },
  };
}

function toUnescaped(line: string): string[] {
  if (!line.includes('\\')) return [line];
  const text = line.replaceAll(/\\(?:u([\da-f]{4})|([nrt"\\/bf]))/gi, (_all, code, sign) =>
    code === undefined ? (SIGNS[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return text.split('\n');
}

const SIGNS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '', f: '' };
