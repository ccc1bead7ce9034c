import type { z } from 'zod';
import type { GitlabClient } from '../../gitlab/client.ts';
import { openPageBudget } from '../../http/page-budget.ts';
import { fromWireList } from './wire.ts';

const MAX_PAGES = 10;

/** For every list; how many pages are read is up to `readList`. */
export const PAGING = { perPage: 100 } as const;

export interface WireList<T> {
  items: T[];
  /** There is more than was read. */
  isCut: boolean;
}

/** All pages that `ask` leads to, up to a number of them and of bytes. */
export async function readList<T>(
  client: GitlabClient,
  ask: (api: GitlabClient['api']) => Promise<unknown>,
  { schema, what, maxPages = MAX_PAGES }: { schema: z.ZodType<T>; what: string; maxPages?: number },
  signal: AbortSignal,
): Promise<WireList<T>> {
  const pages = { ...openPageBudget(maxPages), hasMore: false };
  const answer = await ask(client.withSignal(signal, pages).api);
  return { items: fromWireList(schema, what, answer), isCut: pages.hasMore };
}

/** For an answer whose list was cut: what the model should know of it, or nothing. */
export function toCutNote({ items, isCut }: WireList<unknown>, what: string): { note?: string } {
  return isCut ? { note: `Only the first ${items.length} ${what} were read; there are more.` } : {};
}
