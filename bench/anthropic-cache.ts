// What Anthropic's prompt cache makes of recorded requests, by the rules of
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
// Tokens are counted as bytes / 4 of a block's JSON. One conversation after the other, never two at once: an entry
// counts as written when the next request comes.
import { createHash } from 'node:crypto';
import { type Block, toBlocks } from './anthropic-blocks.ts';

export interface Recorded {
  /** When the request began: the life of an entry is counted from there. */
  atMs: number;
  body: unknown;
}

/** The three kinds of input, which do not overlap. */
export interface Bill {
  readTokens: number;
  writeTokens: number;
  plainTokens: number;
}

export interface CacheRules {
  /** A shorter prefix is not cached, and nobody is told. Depends on the model: 512 to 4096. */
  minimumTokens: number;
  lifeMs: number;
  /** How many places each breakpoint looks at for an entry, its own included. */
  lookback: number;
}

const RULES: CacheRules = { minimumTokens: 1024, lifeMs: 5 * 60_000, lookback: 20 };

export function simulateCache(requests: readonly Recorded[], changed: Partial<CacheRules> = {}): Bill[] {
  const rules = { ...RULES, ...changed };
  /** By the hash of the prefix: when it was last written or read. */
  const entries = new Map<string, number>();
  return requests.map(({ atMs, body }) => {
    const prefixes = toPrefixes(toBlocks(body));
    const isAlive = ({ hash }: Prefix): boolean =>
      atMs - (entries.get(hash) ?? Number.NEGATIVE_INFINITY) < rules.lifeMs;
    const marked = prefixes.filter(({ isMarked, tokens }) => isMarked && tokens >= rules.minimumTokens);
    const hit = prefixes.findLast((prefix) => isAlive(prefix) && isSeen(prefix, marked, rules));
    for (const { hash } of hit ? [...marked, hit] : marked) entries.set(hash, atMs);
    return toBill(prefixes, hit?.tokens ?? 0, marked.at(-1)?.tokens ?? 0);
  });
}

/**
 * The least a run can cost: each request reads all it has in common with the one before, whatever else changed, and
 * writes only what the next one reads.
 */
export function idealCache(requests: readonly Recorded[]): Bill[] {
  const runs = requests.map(({ body }) => toPrefixes(toBlocks(body).map(withoutSettings)));
  return runs.map((prefixes, index) =>
    toBill(prefixes, commonTokens(prefixes, runs[index - 1]), commonTokens(prefixes, runs[index + 1])),
  );
}

export function noCache(requests: readonly Recorded[]): Bill[] {
  return requests.map(({ body }) => toBill(toPrefixes(toBlocks(body)), 0, 0));
}

/** In input tokens at the plain price. Newer models read for less than a tenth. */
export function costOf(bills: readonly Bill[], { write = 1.25, read = 0.1 } = {}): number {
  return bills.reduce(
    (sum, { readTokens, writeTokens, plainTokens }) =>
      sum + read * readTokens + write * writeTokens + plainTokens,
    0,
  );
}

interface Prefix {
  hash: string;
  /** All of them, from the first tool on. */
  tokens: number;
  /** Counted as the look-back counts: a run of calls or of results is one. */
  place: number;
  isMarked: boolean;
}

function toPrefixes(blocks: readonly Block[]): Prefix[] {
  let hash = '';
  let tokens = 0;
  let place = 0;
  return blocks.map(({ key, json, run, isMarked }, index) => {
    hash = createHash('sha256').update(`${hash}\n${key}\n${json}`).digest('hex');
    tokens += Math.ceil(Buffer.byteLength(json) / 4);
    if (run === null || run !== blocks[index - 1]?.run) place += 1;
    return { hash, tokens, place, isMarked };
  });
}

function isSeen({ place }: Prefix, marked: readonly Prefix[], { lookback }: CacheRules): boolean {
  return marked.some((mark) => place <= mark.place && mark.place - place < lookback);
}

function toBill(prefixes: readonly Prefix[], readTokens: number, writtenTo: number): Bill {
  const writeTokens = Math.max(0, writtenTo - readTokens);
  return {
    readTokens,
    writeTokens,
    plainTokens: (prefixes.at(-1)?.tokens ?? 0) - readTokens - writeTokens,
  };
}

function commonTokens(prefixes: readonly Prefix[], others: readonly Prefix[] = []): number {
  return prefixes.findLast(({ hash }, index) => hash === others[index]?.hash)?.tokens ?? 0;
}

function withoutSettings({ key: _, ...block }: Block): Block {
  return { ...block, key: '' };
}
