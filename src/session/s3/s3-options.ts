import type { Learn } from '../../learn.ts';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface S3Options {
  bucket: string;
  /** Begins the key of every object; empty, or with a slash at its end. */
  prefix: string;
  /** AWS unless told. */
  endpoint?: string | undefined;
  region?: string | undefined;
  /** Bucket in the path instead of the host name. */
  forcePathStyle?: boolean | undefined;
  encryption?: { kind: 'AES256' } | { kind: 'aws:kms'; keyId?: string | undefined } | undefined;
  /** What the SDK finds by itself unless told. */
  credentials?: S3Credentials | undefined;
  /** Hears of the credentials of each request: the SDK may find them by itself, and renew them. */
  learn: Learn;
  /** Where the SDK looks for them. */
  environment: ReadonlyMap<string, string>;
  /** Of one operation; of a large archive, how long nothing of it may move. */
  timeoutMs: number;
  /** How often the SDK tries a request that fails. */
  attempts: number;
}
