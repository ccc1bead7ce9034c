import type { Redactor } from './redactor.ts';

const MAX_CAUSES = 10;

/** The same error, since its class tells what to do, with words that may be told; also of its causes and parts. */
export function redactError(error: unknown, redactor: Redactor): unknown {
  redactParts(error, redactor, 0);
  return error;
}

function redactParts(error: unknown, redactor: Redactor, depth: number): void {
  if (depth >= MAX_CAUSES || !(error instanceof Error)) return;
  error.message = redactor.text(error.message);
  if (error.stack !== undefined) error.stack = redactor.text(error.stack);
  redactParts(error.cause, redactor, depth + 1);
  if (!(error instanceof AggregateError)) return;
  for (const one of error.errors) redactParts(one, redactor, depth + 1);
}
