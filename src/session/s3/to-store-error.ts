import { PermanentError, RetryableError } from '../../errors.ts';
import { WHO } from '../objects.ts';
import { SessionCorruptError, SessionTakenError } from '../session-store.ts';
import type { S3Options } from './s3-options.ts';

/** Something a person has to mend; the work may succeed afterwards. */
export class StoreSetupError extends RetryableError {}

/** An error of the SDK, in our words. What is ours already stays as it is. */
export function toStoreError(error: unknown, what: string, options: S3Options): Error {
  if (isOurs(error)) return error;
  const { bucket, endpoint = 'AWS' } = options;
  const at = `${what} (bucket ${bucket} of ${endpoint})`;
  if (isTimeout(error))
    return new RetryableError(
      `${at}: no answer within ${options.timeoutMs} ms; the service hangs or can not be reached`,
      { cause: error, who: WHO },
    );
  const fix = findFix(error, options);
  if (fix) return new StoreSetupError(`${at}: ${fix}`, { cause: error, who: WHO });
  return new RetryableError(`${at}: ${describe(error)}`, { cause: error, who: WHO });
}

/** The status the service answered with, if it did. */
export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

function isOurs(error: unknown): error is Error {
  return [RetryableError, PermanentError, SessionCorruptError, SessionTakenError].some(
    (kind) => error instanceof kind,
  );
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && ['TimeoutError', 'AbortError'].includes(error.name);
}

const UNREACHABLE = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

function findFix(error: unknown, { bucket }: S3Options): string | null {
  const { name = '' } = error as { name?: string };
  const status = statusOf(error);
  if (name === 'NoSuchBucket')
    return `there is no bucket ${bucket}; create it, or correct store.bucket and store.endpoint`;
  if (name === 'CredentialsProviderError')
    return 'no credentials were found; name variables under store.credentials, or use any way the AWS SDK knows';
  if (['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken', 'InvalidToken'].includes(name))
    return `the credentials are not accepted (${name}); correct what the variables of store.credentials hold`;
  if (status === 401 || status === 403)
    return 'access is denied; the credentials need to get, put, list and delete objects there, see docs/sessions.md';
  if (status === 301 || name === 'AuthorizationHeaderMalformed')
    return `the bucket is in another region (${describe(error)}); correct store.region`;
  return null;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code = '' } = error as NodeJS.ErrnoException;
  if (UNREACHABLE.includes(code))
    return `nobody answers there (${code}); start the service, or correct store.endpoint`;
  const status = statusOf(error);
  const text = error.message && error.message !== 'UnknownError' ? error.message : error.name;
  return status === undefined ? text || error.name : `${text} (HTTP ${status})`;
}
