// What a failed try means: which error it becomes, and who may try again.
import { NotFoundError, PermanentError, RetryableError } from '../errors.ts';
import type { Method } from './exchange.ts';
import { TooLateError } from './read-deadline.ts';

export interface Failure {
  error: PermanentError | RetryableError;
  /** `always`: the other side surely did nothing. `reads`: it may have acted, which only a read does not mind. */
  repeat: 'always' | 'reads' | 'never';
  /** How long we were asked to wait. */
  askedMs?: number | undefined;
}

export interface Refusal {
  status: number;
  /** Of the service itself, free of secrets. */
  words: string;
  /** The answer came from another origin, reached by a redirect without our token. */
  isForeign: boolean;
  askedMs: number | undefined;
}

/** `who` is the service that was asked. */
export function fromRefusal(method: Method, what: string, refusal: Refusal, who: string): Failure {
  const { status, isForeign, askedMs } = refusal;
  const says = refusal.words === '' ? '' : `: ${refusal.words}`;
  if (status === 404) {
    const message = `${what} was answered 404, it is not there or this token may not see it${says}`;
    return { error: new NotFoundError(message), repeat: 'never' };
  }
  if (isForeign) {
    // Signed links to a file store expire; asking again gives a new one.
    const message = `${what} was redirected to a file store, which answered ${status}`;
    return { error: new RetryableError(message, { who }), repeat: 'reads' };
  }
  const reason = toPermanentReason(status, who);
  if (reason !== undefined) {
    const message = `${what} was answered ${status}, ${reason}${says}`;
    return { error: new PermanentError(message), repeat: 'never' };
  }
  const repeat = status === 429 ? 'always' : 'reads';
  const message = `${what} was answered ${status}${says}${outcome(method, repeat)}`;
  const options = askedMs === undefined ? { who } : { who, retryAfterMs: askedMs };
  return { error: new RetryableError(message, options), repeat, askedMs };
}

export function fromBrokenConnection(method: Method, what: string, cause: unknown, who: string): Failure {
  if (cause instanceof TooLateError) {
    const message = `${what} ${cause.message} and was given up${outcome(method, 'reads')}`;
    // It has had its time; a second one belongs to whoever asks again.
    return { error: new RetryableError(message, { cause }), repeat: 'never' };
  }
  const code = codeOf(cause);
  if (UNTRUSTED.has(code)) {
    const message = `${what} was not sent, the certificate is not trusted (${code}). Renew it, or set the CA file to the PEM of the authority that signed it`;
    return { error: new PermanentError(message, { cause }), repeat: 'never' };
  }
  if (code === 'UND_ERR_INVALID_ARG') {
    return { error: new PermanentError(`${what} is not a valid request`, { cause }), repeat: 'never' };
  }
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    const message = `${what} ended because the client was closed${outcome(method, 'reads')}`;
    return { error: new RetryableError(message, { cause, who }), repeat: 'never' };
  }
  if (wasNeverSent(cause, code)) {
    const message = `${what} could not reach ${who} (${code})`;
    return { error: new RetryableError(message, { cause, who }), repeat: 'always' };
  }
  const message = `${what} ${PROBLEMS[code] ?? 'got no whole answer'} (${code})${outcome(method, 'reads')}`;
  return { error: new RetryableError(message, { cause, who }), repeat: 'reads' };
}

/** Of a refusal that may be none the next time. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

function toPermanentReason(status: number, who: string): string | undefined {
  if (status === 401) return 'the token is invalid, expired or revoked';
  if (status === 403) return 'the token lacks a scope or its user lacks a role';
  if (isPassing(status)) return undefined;
  return `${who} does not accept this request`;
}

function outcome(method: Method, repeat: Failure['repeat']): string {
  return method === 'GET' || repeat === 'always' ? '' : '; outcome unknown, look before repeating it';
}

const PROBLEMS: Record<string, string> = {
  UND_ERR_HEADERS_TIMEOUT: 'got no answer in time',
  UND_ERR_BODY_TIMEOUT: 'got an answer that fell silent',
};

// Only what proves that no byte of the request left: everything else counts as sent.
const NEVER_SENT = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

function wasNeverSent(cause: unknown, code: string): boolean {
  if (NEVER_SENT.has(code)) return true;
  return cause instanceof Error && 'syscall' in cause && cause.syscall === 'connect';
}

const UNTRUSTED = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
