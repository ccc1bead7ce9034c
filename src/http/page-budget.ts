/** Of all pages of one list together, before they are parsed. */
const MAX_PAGED_BYTES = 24 * 1024 * 1024;

/** How much of a list is read: when it is spent, no further page is asked for. */
export interface PageBudget {
  /** Counts a page that was read. */
  spend(bytes: number): void;
  isSpent(): boolean;
}

export function openPageBudget(maxPages: number, maxBytes = MAX_PAGED_BYTES): PageBudget {
  let pages = 0;
  let bytes = 0;
  return {
    spend(more) {
      pages += 1;
      bytes += more;
    },
    isSpent: () => pages >= maxPages || bytes >= maxBytes,
  };
}
