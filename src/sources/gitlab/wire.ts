// What GitLab sent, before it is believed.
import { z } from 'zod';
import { checkWire } from '../from-wire.ts';

const PER_PAGE = 100;
const MAX_PAGES = 10;

/** For every list: gitbeaker follows `next` for ever otherwise. */
export const PAGING = { perPage: PER_PAGE, maxPages: MAX_PAGES } as const;

export function fromWire<T>(schema: z.ZodType<T>, what: string, answer: unknown): T {
  return checkWire(schema, answer, { who: 'GitLab', what });
}

export function fromWireList<T>(schema: z.ZodType<T>, what: string, answer: unknown): T[] {
  return fromWire(z.array(schema), what, answer);
}

/** For an answer whose list may have been cut: what the model should know of it, or nothing. */
export function toCutNote(items: readonly unknown[], what: string): { note?: string } {
  if (items.length < PER_PAGE * MAX_PAGES) return {};
  return { note: `Only the first ${items.length} ${what} were read; there may be more.` };
}
