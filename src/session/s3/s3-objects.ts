import {
  CopyObjectCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { createTurns } from '../in-turn.ts';
import type { SessionObjects } from '../objects.ts';
import type { StoredObject } from '../session-store.ts';
import { connectS3 } from './connection.ts';
import { download } from './download.ts';
import { toEncryption } from './encryption.ts';
import { readText } from './read-text.ts';
import type { S3Options } from './s3-options.ts';
import { statusOf } from './to-store-error.ts';
import { upload } from './upload.ts';
import { writeText } from './write-text.ts';

const DELETES_AT_ONCE = 8;

/** Objects in a bucket of any S3-compatible service. */
export function createS3Objects(options: S3Options): SessionObjects {
  const s3 = connectS3(options);
  const { bucket: Bucket, prefix } = options;
  const encryption = toEncryption(options);
  const inTurn = createTurns();

  async function* list(start: string): AsyncGenerator<StoredObject> {
    let token: string | undefined;
    do {
      const page = await s3.run(`listing ${s3.where(start)}`, (abortSignal) =>
        s3.client.send(
          new ListObjectsV2Command({ Bucket, Prefix: s3.keyOf(start), ContinuationToken: token }),
          { abortSignal },
        ),
      );
      for (const { Key = '', Size = 0, LastModified = new Date(0) } of page.Contents ?? [])
        yield { name: Key.slice(prefix.length), bytes: Size, savedAt: LastModified };
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async function remove(keys: readonly string[]): Promise<void> {
    const left = [...keys];
    const work = async (): Promise<void> => {
      for (let key = left.shift(); key !== undefined; key = left.shift()) await removeOne(key);
    };
    await Promise.all(Array.from({ length: DELETES_AT_ONCE }, work));
  }

  async function removeOne(key: string): Promise<void> {
    const command = new DeleteObjectCommand({ Bucket, Key: s3.keyOf(key) });
    await s3.run(`deleting ${s3.where(key)}`, (abortSignal) => s3.client.send(command, { abortSignal }));
  }

  async function copy(from: string, to: string): Promise<void> {
    const source = { Bucket, CopySource: encodeURI(`${Bucket}/${s3.keyOf(from)}`) };
    const command = new CopyObjectCommand({ ...source, Key: s3.keyOf(to), ...encryption });
    await s3.run(`copying ${s3.where(from)}`, (abortSignal) => s3.client.send(command, { abortSignal }));
  }

  async function keysOf(session: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { name } of list(`${session}/`)) keys.push(name);
    return keys;
  }

  async function removeSession(session: string): Promise<void> {
    // Without its conversation it is no session any more, should this be broken off.
    await removeOne(`${session}/context.json`);
    await remove(await keysOf(session));
  }

  return {
    where: s3.where,
    read: (key) => readText(s3, key),
    // Not every service keeps two writers of one object apart.
    write: (key, content, stamp) => inTurn(key, () => writeText(s3, { key, content, stamp })),
    writeStream: (key, content) => upload(s3, key, content),
    open: (key, expected) => download(s3, key, expected),
    copy,
    list,
    listWithDrafts: null,
    remove,
    removeSession,

    async move(session, to) {
      for (const key of await keysOf(session)) await copy(key, `${to}${key.slice(session.length)}`);
      await removeSession(session);
    },

    append: null,

    async check() {
      const startedAt = performance.now();
      await s3.run('looking for the bucket', async (abortSignal) => {
        const looking = s3.client.send(new HeadBucketCommand({ Bucket }), { abortSignal });
        await looking.catch((error) => {
          // A question without a body is answered without a reason.
          throw statusOf(error) === 404 ? Object.assign(error, { name: 'NoSuchBucket' }) : error;
        });
      });
      return { bucket: Bucket, latencyMs: Math.round(performance.now() - startedAt) };
    },

    async close() {
      s3.client.destroy();
    },
  };
}
