import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { untilAborted } from '../../deadline.ts';
import { readLoginFiles } from './login-files.ts';
import type { S3Credentials, S3Options } from './s3-options.ts';
import { toStoreError } from './to-store-error.ts';

export interface S3Connection {
  client: S3Client;
  options: S3Options;
  keyOf(key: string): string;
  /** For people. */
  where(key: string): string;
  /** The outcome, or an error that says what failed and why; also when it takes too long. */
  run<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

const CONNECT_MS = 5_000;

export function connectS3(options: S3Options): S3Connection {
  const { bucket, prefix, timeoutMs } = options;
  const client = new S3Client(toClientConfig(options));
  tellCredentials(client, options);
  return {
    client,
    options,
    keyOf: (key) => `${prefix}${key}`,
    where: (key) => `s3://${bucket}/${prefix}${key}`,
    async run(what, work) {
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        return await untilAborted(work(signal), signal);
      } catch (error) {
        throw toStoreError(error, what, options);
      }
    },
  };
}

/** Those that a request is about to be signed with, and what the SDK has got them with. */
function tellCredentials(
  { config, middlewareStack }: S3Client,
  { learn, credentials, environment }: S3Options,
): void {
  let identity: string | null = null;
  let keys: (string | undefined)[] = [];
  let files: string[] = [];
  let last: unknown;
  const tell = (): void => learn([...keys, ...files, identity].filter((one) => typeof one === 'string'));
  middlewareStack.add(
    (next, context) => async (args) => {
      const signer: unknown = context.__smithy_context?.selectedHttpAuthScheme?.identity;
      if (signer !== last && !credentials) files = await readLoginFiles(environment);
      last = signer;
      const { accessKeyId, secretAccessKey, sessionToken } = { ...(signer as Partial<S3Credentials>) };
      keys = [accessKeyId, secretAccessKey, sessionToken];
      tell();
      return next(args);
    },
    { step: 'build', name: 'tellCredentials' },
  );
  const { requestHandler } = config;
  const handle = requestHandler.handle.bind(requestHandler);
  // The SDK asks for keys in the same way as for objects.
  requestHandler.handle = (request, options) => {
    const given = identityIn(request);
    identity = given ?? identity;
    if (given !== null) tell();
    return handle(request, options);
  };
}

/** What STS is given by a pod. */
function identityIn({ headers, body }: { headers: Record<string, string>; body?: unknown }): string | null {
  if (headers['content-type'] !== 'application/x-www-form-urlencoded') return null;
  return new URLSearchParams(String(body)).get('WebIdentityToken');
}

function toClientConfig(options: S3Options): S3ClientConfig {
  const { endpoint, forcePathStyle, credentials, timeoutMs, attempts } = options;
  // Other services than AWS seldom care, but a signature needs one.
  const region = options.region ?? (endpoint === undefined ? undefined : 'us-east-1');
  return {
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: Math.min(CONNECT_MS, timeoutMs),
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
    },
    // We have checksums of our own, and not every service knows the SDK's.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(forcePathStyle !== undefined && { forcePathStyle }),
    ...(credentials !== undefined && { credentials }),
  };
}
