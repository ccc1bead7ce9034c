// What every adapter knows about failures: which status means what, and that no key is ever part of an error.
import { ModelError } from '../agent/model.ts';
import { cutWords } from '../cut-words.ts';

export interface Failure {
  kind: ModelError['kind'];
  message: string;
  cause: unknown;
  retryAfterMs?: number | undefined;
  /** The HTTP status of a server that did not begin to answer; an error within an answer has none. */
  refusedWith?: number | undefined;
  /** It was never asked. */
  isUnsent?: boolean;
}

/** A key itself, or what one looks like. */
export type Key = string | RegExp;

export function toModelError(failure: Failure, key: Key): ModelError {
  const { kind, message, cause, retryAfterMs, refusedWith, isUnsent = hasNoConnection(cause) } = failure;
  return new ModelError(kind, toLine(withoutKey(message, key)), {
    cause: copyWithoutKey(cause, key),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    unbilled: refusedWith === undefined ? isUnsent : !GAVE_UP_WAITING.has(refusedWith),
  });
}

/** Said by whoever stands before the model, which may have worked all the time. */
const GAVE_UP_WAITING = new Set([408, 502, 504, 524]);

/** There was no connection on which a request could have gone out. */
function hasNoConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return NO_CONNECTION.test(codeOf(error)) || hasNoConnection(error.cause);
}

/** Refused, not found, or not trusted. */
const NO_CONNECTION =
  /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$|CERT|LEAF_SIGNATURE/;

/** A proxy may answer with a whole page. */
function toLine(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim();
  return line.length > MAX_CHARS ? `${cutWords(line, MAX_CHARS)}…` : line;
}

const MAX_CHARS = 300;

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
