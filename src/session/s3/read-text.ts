import { GetObjectCommand } from '@aws-sdk/client-s3';
import { assertSame, checksumOf } from '../checksum.ts';
import { toPlace } from '../read-saved.ts';
import type { S3Connection } from './connection.ts';
import { statusOf } from './to-store-error.ts';

/** What comes to an end in the middle of a body, the SDK does not try again. */
const TRIES = 3;

/** Null when there is none. Throws `SessionCorruptError` when it is not what was written. */
export async function readText(s3: S3Connection, key: string): Promise<string | null> {
  return s3.run(`reading ${s3.where(key)}`, async (abortSignal) => {
    for (let tries = 1; ; tries += 1) {
      const found = await find(s3, key, abortSignal);
      if (!found) return null;
      try {
        const text = await found.Body?.transformToString();
        if (text === undefined) throw new Error('the answer has no body');
        const { sha256 } = found.Metadata ?? {};
        if (sha256 !== undefined)
          assertSame(checksumOf(text), { bytes: found.ContentLength ?? 0, sha256 }, toPlace(key, s3.where));
        return text;
      } catch (error) {
        if (!isBrokenOff(error) || tries === TRIES || abortSignal.aborted) throw error;
      }
    }
  });
}

async function find(s3: S3Connection, key: string, abortSignal: AbortSignal) {
  const command = new GetObjectCommand({ Bucket: s3.options.bucket, Key: s3.keyOf(key) });
  return s3.client.send(command, { abortSignal }).catch(unlessMissing);
}

export function unlessMissing(error: unknown): null {
  const { name = '' } = error as { name?: string };
  if (name !== 'NoSuchBucket' && statusOf(error) === 404) return null;
  throw error;
}

/** The connection ended before the body did. */
export function isBrokenOff(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}
