import { setImmediate as pause } from 'node:timers/promises';
import type { Document } from './documents.ts';
import { createMatcher, type Match, type Wanted } from './match-quotes.ts';

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
  maxFileBytes: number;
  maxTotalBytes: number;
  maxMs: number;
}

export const SEARCH_LIMITS: SearchLimits = {
  maxFileBytes: 64 * 1024 * 1024,
  maxTotalBytes: 256 * 1024 * 1024,
  maxMs: 30_000,
};

/** Of a longer line the rest is not looked at. */
const MAX_LINE_BYTES = 256 * 1024;
const LINES_AT_ONCE = 5_000;
const LINE_END = 10;

/** One document after the other, so that only one is in memory. */
export async function searchDocuments(
  documents: readonly Document[],
  wanted: readonly Wanted[],
  { signal, limits = SEARCH_LIMITS }: { signal: AbortSignal; limits?: SearchLimits },
): Promise<SearchResult> {
  const result: SearchResult = { searched: [], unread: [] };
  const endsAt = performance.now() + limits.maxMs;
  let totalBytes = 0;
  for (const document of documents) {
    signal.throwIfAborted();
    totalBytes += document.bytes;
    if (document.bytes > limits.maxFileBytes || totalBytes > limits.maxTotalBytes) {
      result.unread.push({ document, reason: `${document.name} is too large to be checked` });
      continue;
    }
    if (performance.now() > endsAt) {
      result.unread.push({ document, reason: 'there was no time left to check it' });
      continue;
    }
    const read = await document.read();
    if (read.content === null) result.unread.push({ document, reason: read.reason });
    else result.searched.push(await search(document, read.content, { wanted, signal }));
  }
  return result;
}

async function search(
  document: Document,
  content: Buffer,
  { wanted, signal }: { wanted: readonly Wanted[]; signal: AbortSignal },
): Promise<Searched> {
  const matcher = createMatcher(wanted);
  /** In JSON the lines of a text are one line, with its signs escaped: there they are looked for once more. */
  const unescaped = document.kind === 'json' ? createMatcher(wanted) : null;
  let count = 0;
  for (let start = 0; start < content.length; ) {
    const found = content.indexOf(LINE_END, start);
    const end = found === -1 ? content.length : found;
    const line = content.toString('utf8', start, Math.min(end, start + MAX_LINE_BYTES));
    matcher.add(line);
    if (unescaped) for (const one of toUnescaped(line)) unescaped.add(one);
    start = end + 1;
    count += 1;
    if (count % LINES_AT_ONCE === 0) {
      await pause();
      signal.throwIfAborted();
    }
  }
  const more = unescaped?.matches() ?? [];
  const matches = matcher.matches().map((match, index) => match ?? more[index] ?? null);
  return { document, lineCount: matcher.lineCount(), matches };
}

function toUnescaped(line: string): string[] {
  if (!line.includes('\\')) return [line];
  const text = line.replaceAll(/\\(?:u([\da-f]{4})|([nrt"\\/bf]))/gi, (_all, code, sign) =>
    code === undefined ? (SIGNS[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return text.split('\n');
}

const SIGNS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '', f: '' };
