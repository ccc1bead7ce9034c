import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Upload } from '@aws-sdk/lib-storage';
import { RetryableError } from '../../errors.ts';
import { createMeter } from '../checksum.ts';
import { type Checksum, WHO } from '../objects.ts';
import { watchMovement } from '../watch-movement.ts';
import type { S3Connection } from './connection.ts';
import { toEncryption } from './encryption.ts';
import { toStoreError } from './to-store-error.ts';

/** Held in memory, for each of those that are under way at once. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/** In parts, so that it is never held whole; whole or not at all. Throws the content's own error. */
export async function upload(s3: S3Connection, key: string, content: Readable): Promise<Checksum> {
  const { options } = s3;
  const what = `saving ${s3.where(key)}`;
  const movement = watchMovement(options.timeoutMs);
  const meter = createMeter(movement.moved);
  const contentErrors: unknown[] = [];
  // Not when it is given up because the upload has failed.
  content.once('error', (error) => meter.destroyed || contentErrors.push(error));
  pipeline(content, meter).catch(() => undefined);
  const uploading = new Upload({
    client: s3.client,
    params: { Bucket: options.bucket, Key: s3.keyOf(key), Body: meter, ...toEncryption(options) },
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE,
    abortController: movement.controller,
  });
  uploading.on('httpUploadProgress', movement.moved);
  try {
    await uploading.done();
    return meter.checksum();
  } catch (error) {
    if (contentErrors.length > 0) throw contentErrors[0];
    if (movement.controller.signal.aborted)
      throw new RetryableError(`${what}: nothing moved for ${options.timeoutMs} ms; the service hangs`, {
        cause: error,
        who: WHO,
      });
    throw toStoreError(error, what, options);
  } finally {
    movement.stop();
    content.destroy();
  }
}
