// What every adapter knows about failures: which status means what, and that no key is ever part of an error.
import { ModelError } from '../agent/model.ts';

export interface Failure {
  kind: ModelError['kind'];
  message: string;
  cause: unknown;
  retryAfterMs?: number | undefined;
}

/** A key itself, or what one looks like. */
export type Key = string | RegExp;

export function toModelError({ kind, message, cause, retryAfterMs }: Failure, key: Key): ModelError {
  return new ModelError(kind, withoutKey(message, key), {
    cause: copyWithoutKey(cause, key),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** Without a status there was no answer, or only a part of one. */
export function kindOfStatus(status: number | undefined): ModelError['kind'] {
  if (status === undefined || status >= 500) return 'retry';
  // 409 is a lock that was not free in time.
  if ([408, 409, 429].includes(status)) return 'retry';
  if ([401, 402, 403, 404].includes(status)) return 'switch';
  if (status === 413) return 'too-long';
  return 'stop';
}

/** An error with the words of those that caused it: `fetch failed` alone helps nobody. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const words = error.message || codeOf(error) || error.name;
  if (!(error.cause instanceof Error)) return words;
  const causes = describeError(error.cause);
  return causes.startsWith(words) ? causes : `${words}: ${causes}`;
}

/** The SDK's errors hold requests, headers and bodies; only what a reader needs is kept. */
function copyWithoutKey(error: unknown, key: Key): unknown {
  if (!(error instanceof Error)) return undefined;
  const copy = new Error(withoutKey(error.message || codeOf(error), key), {
    cause: copyWithoutKey(error.cause, key),
  });
  copy.name = error.name;
  copy.stack = withoutKey(error.stack ?? '', key);
  return copy;
}

function withoutKey(text: string, key: Key): string {
  return key === '' ? text : text.replaceAll(key, '[api key]');
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}
