import { NotFoundError, PermanentError, RetryableError } from '../../errors.ts';

/** Several failures as one: it is worth another try if one of them is, and "not there" only if all say so. */
export function joinFailures(message: string, errors: readonly unknown[]): Error {
  const cause = errors[0];
  if (errors.some((error) => error instanceof RetryableError)) return new RetryableError(message, { cause });
  if (errors.every((error) => error instanceof NotFoundError)) return new NotFoundError(message, { cause });
  return new PermanentError(message, { cause });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
