// What GitLab sent, before it is believed.
import { z } from 'zod';
import { checkWire } from '../from-wire.ts';

export function fromWire<T>(schema: z.ZodType<T>, what: string, answer: unknown): T {
  return checkWire(schema, answer, { who: 'GitLab', what });
}

export function fromWireList<T>(schema: z.ZodType<T>, what: string, answer: unknown): T[] {
  return fromWire(z.array(schema), what, answer);
}
