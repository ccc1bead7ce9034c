import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { checksumOf } from '../checksum.ts';
import { assertNext } from '../objects.ts';
import { findStamp } from '../session-schema.ts';
import type { Stamp } from '../session-store.ts';
import type { S3Connection } from './connection.ts';
import { toEncryption } from './encryption.ts';
import { readText, unlessMissing } from './read-text.ts';
import { statusOf } from './to-store-error.ts';

export interface Written {
  key: string;
  content: string;
  stamp: Stamp | undefined;
}

/**
 * One with a stamp is looked for before it is written, and written on the condition that it is still the one that was
 * seen. A service that does not know conditions leaves the moment between look and write.
 */
export async function writeText(s3: S3Connection, written: Written): Promise<void> {
  const { key, stamp } = written;
  await s3.run(`saving ${s3.where(key)}`, async (signal) => {
    if (!stamp) return put(s3, written, {}, signal);
    for (let tries = 1; ; tries += 1) {
      const seen = await look(s3, key, signal);
      // After a conflict, with our own writing: its answer was lost before the SDK tried again.
      if (tries > 1 && seen.stamp === stamp.id) return;
      assertNext(seen.stamp, stamp, s3.where(key));
      try {
        return await put(s3, written, toCondition(seen), signal);
      } catch (error) {
        if (statusOf(error) === NOT_IMPLEMENTED) return put(s3, written, {}, signal);
        const isConflict = CONFLICTS.includes(statusOf(error) ?? 0);
        // With an earlier saving of ours that was left behind, there is another way.
        if (!isConflict || tries === TRIES) throw error;
      }
    }
  });
}

const TRIES = 3;
const NOT_IMPLEMENTED = 501;
const CONFLICTS = [409, 412];

interface Seen {
  /** Undefined when there is nothing, null when it has none. */
  stamp: string | null | undefined;
  etag: string | undefined;
}

type Condition = { IfMatch: string } | { IfNoneMatch: '*' } | Record<never, never>;

async function put(
  s3: S3Connection,
  { key, content, stamp }: Written,
  condition: Condition,
  abortSignal: AbortSignal,
): Promise<void> {
  const { sha256 } = checksumOf(content);
  const command = new PutObjectCommand({
    Bucket: s3.options.bucket,
    Key: s3.keyOf(key),
    Body: content,
    ContentType: key.endsWith('.json') ? 'application/json' : 'application/x-ndjson',
    Metadata: { sha256, ...(stamp && { stamp: stamp.id }) },
    ...toEncryption(s3.options),
    ...condition,
  });
  await s3.client.send(command, { abortSignal });
}

async function look(s3: S3Connection, key: string, abortSignal: AbortSignal): Promise<Seen> {
  const command = new HeadObjectCommand({ Bucket: s3.options.bucket, Key: s3.keyOf(key) });
  const found = await s3.client.send(command, { abortSignal }).catch(unlessMissing);
  if (!found) return { stamp: undefined, etag: undefined };
  // Somebody who puts a copy back may lose what is not in the object itself.
  const stamp = found.Metadata?.stamp ?? findStamp((await readText(s3, key)) ?? '');
  return { stamp, etag: found.ETag };
}

function toCondition({ stamp, etag }: Seen): Condition {
  if (stamp === undefined) return { IfNoneMatch: '*' };
  return etag === undefined ? {} : { IfMatch: etag };
}
