import type { z } from 'zod';
import { type Asked, checkWire } from '../from-wire.ts';
import { messageOf } from './failures.ts';

/** One odd object must not hide the others; that all of them are is another thing, and thrown. */
export function checkEach<T>(
  schema: z.ZodType<T>,
  items: readonly unknown[],
  asked: Asked,
): { values: T[]; odd: string[] } {
  const values: T[] = [];
  const problems: unknown[] = [];
  for (const item of items) {
    try {
      values.push(checkWire(schema, item, asked));
    } catch (error) {
      problems.push(error);
    }
  }
  const [problem] = problems;
  if (problem === undefined) return { values, odd: [] };
  if (values.length === 0) throw problem;
  return { values, odd: [`${problems.length} left out: ${messageOf(problem)}`] };
}
