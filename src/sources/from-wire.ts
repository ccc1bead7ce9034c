import type { z } from 'zod';
import { PermanentError } from '../errors.ts';

/** What a service sent, before it is believed; `who` is the service, `what` the thing that was asked for. */
export function checkWire<T>(schema: z.ZodType<T>, answer: unknown, { who, what }: Asked): T {
  const checked = schema.safeParse(answer);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.slice(0, 3).map(({ path, message }) => [...path, message].join(': '));
  throw new PermanentError(`${who}'s answer about ${what} has an unknown form: ${problems.join('; ')}`, {
    cause: checked.error,
  });
}

export interface Asked {
  who: string;
  what: string;
}
