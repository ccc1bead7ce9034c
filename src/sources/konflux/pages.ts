import { openPageBudget, type PageBudget } from '../../http/page-budget.ts';
import type { Page } from './store.ts';

export const PAGE_SIZE = 100;
const MAX_PAGES = 10;

/** One page, counted, and what to ask the next one with; undefined after the last. */
export type ReadPage = (
  token: string | undefined,
  pages: PageBudget,
) => Promise<{ items: readonly unknown[]; next: string | undefined }>;

/** All pages, up to a number of them and of bytes. What breaks off in the middle keeps what was read before. */
export async function readPages(read: ReadPage, signal: AbortSignal): Promise<Page> {
  const items: unknown[] = [];
  let token: string | undefined;
  const pages = openPageBudget(MAX_PAGES);
  while (!pages.isSpent()) {
    try {
      const { items: more, next } = await read(token, pages);
      items.push(...more);
      token = next;
    } catch (error) {
      signal.throwIfAborted();
      if (token === undefined) throw error;
      // A token for the next page expires when a list takes too long.
      return { items, isCut: false, brokenBy: error };
    }
    if (token === undefined) return { items, isCut: false };
  }
  return { items, isCut: true };
}
