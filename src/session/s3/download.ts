import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { RetryableError } from '../../errors.ts';
import { assertSame } from '../checksum.ts';
import { type Checksum, WHO } from '../objects.ts';
import { toPlace } from '../read-saved.ts';
import { watchMovement } from '../watch-movement.ts';
import type { S3Connection } from './connection.ts';
import { isBrokenOff, unlessMissing } from './read-text.ts';
import { toStoreError } from './to-store-error.ts';

const TRIES = 3;

/**
 * Null when there is none. It comes to a file of this machine first: it is checked before anybody sees it, and a reader
 * that takes his time does not keep the service waiting. The file has no name, so it ends with its reader.
 */
export async function download(
  s3: S3Connection,
  key: string,
  expected: Checksum | undefined,
): Promise<Readable | null> {
  const path = join(tmpdir(), `hummingbird-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    const found = await fetchInto(file, s3, key);
    if (found && expected) assertSame(found, expected, toPlace(key, s3.where));
    if (found) return file.createReadStream({ start: 0 });
    await file.close();
    return null;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function fetchInto(file: FileHandle, s3: S3Connection, key: string): Promise<Checksum | null> {
  const what = `reading ${s3.where(key)}`;
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetchOnce(file, s3, key);
    } catch (error) {
      if (!isBrokenOff(error) || tries === TRIES) throw toStoreError(error, what, s3.options);
    }
  }
}

async function fetchOnce(file: FileHandle, s3: S3Connection, key: string): Promise<Checksum | null> {
  const { bucket: Bucket, timeoutMs } = s3.options;
  const movement = watchMovement(timeoutMs);
  const { signal } = movement.controller;
  try {
    const command = new GetObjectCommand({ Bucket, Key: s3.keyOf(key) });
    const found = await s3.client.send(command, { abortSignal: signal }).catch(unlessMissing);
    if (!found) return null;
    await file.truncate(0);
    return await writeInto(file, addAbortSignal(signal, found.Body as Readable), movement.moved);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new RetryableError(`${s3.where(key)}: nothing moved for ${timeoutMs} ms; the service hangs`, {
      cause: error,
      who: WHO,
    });
  } finally {
    movement.stop();
  }
}

async function writeInto(file: FileHandle, body: Readable, onBytes: () => void): Promise<Checksum> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of body) {
    onBytes();
    hash.update(chunk);
    await file.write(chunk, 0, chunk.length, bytes);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
