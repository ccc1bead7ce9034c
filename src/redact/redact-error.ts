import type { Redactor } from './redactor.ts';

const MAX_CAUSES = 10;

/** The same error, since its class tells what to do, with words that may be told. */
export function redactError(error: unknown, redactor: Redactor): unknown {
  let one = error;
  for (let depth = 0; depth < MAX_CAUSES && one instanceof Error; depth += 1) {
    one.message = redactor.text(one.message);
    if (one.stack !== undefined) one.stack = redactor.text(one.stack);
    one = one.cause;
  }
  return error;
}
