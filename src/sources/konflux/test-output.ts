// TEST_OUTPUT: what a check found, as JSON in a result of its task run, which itself may well have succeeded.
import { z } from 'zod';
import type { Result } from './wire.ts';

export interface TestOutput {
  result: string;
  /** Whether the check failed, whatever became of the task run. */
  failed: boolean;
  note: string | null;
  successes?: number;
  failures?: number;
  warnings?: number;
  /** When it could not be read. */
  raw?: string;
}

const PASSED = new Set(['SUCCESS', 'SKIPPED', 'WARNING']);

/** Undefined when the results hold none. One that can not be read is a failed check: so Konflux sees it. */
export function findTestOutput(results: readonly Result[] | null | undefined): TestOutput | undefined {
  const raw = results?.find(({ name }) => NAMES.has(name))?.value;
  if (raw === undefined) return undefined;
  const read = wireTestOutput.safeParse(raw);
  if (!read.success) {
    const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
    return { result: 'INVALID', failed: true, note: 'TEST_OUTPUT is not the JSON it should be', raw: text };
  }
  const { result, note, successes, failures, warnings } = read.data;
  return {
    result,
    failed: !PASSED.has(result),
    note: note ?? null,
    ...(successes != null && { successes }),
    ...(failures != null && { failures }),
    ...(warnings != null && { warnings }),
  };
}

/** The second is the name that older tasks gave it. */
const NAMES = new Set(['TEST_OUTPUT', 'HACBS_TEST_OUTPUT']);

const wireTestOutput = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'is not JSON' });
      return z.NEVER;
    }
  })
  .pipe(
    z.object({
      result: z.string(),
      note: z.string().nullish(),
      successes: z.number().nullish(),
      failures: z.number().nullish(),
      warnings: z.number().nullish(),
    }),
  );
