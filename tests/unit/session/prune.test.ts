import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, inject, test } from 'vitest';
import type { OpenedStore } from '../../../src/session/create-store.ts';
import { openFolderStore } from '../../../src/session/folder-store.ts';
import { pruneSessions, type WhileFree } from '../../../src/session/prune.ts';
import { createS3Objects } from '../../../src/session/s3/s3-objects.ts';
import { openS3Store } from '../../../src/session/s3-store.ts';
import type { SessionContext } from '../../../src/session/session-store.ts';
import { s3Options } from '../../services/s3.ts';

const CONTEXT: SessionContext = { version: 1, messages: [{ role: 'user', content: 'why?' }] };
const LONG_AGO = new Date('2020-01-01');
const BEFORE = new Date('2021-01-01');
const ID = '0a1b2c3d-0000-1111-2222-333344445555';

test('only sessions are removed from a folder that others use too', async () => {
  const { dir, store, put } = arrange();
  await put('my-backups/monday.tar.gz', 'assets/files/logo.png', 'a-file', 'logs/app.tmp', `${ID}/photo.jpg`);
  await put('mine/context.json', `${randomUUID()}/files/x.tar.gz`, `${randomUUID()}/transcript.jsonl`);
  await mkdir(join(dir, 'empty'));

  expect(await Array.fromAsync(store.catalog.list())).toHaveLength(3);
  expect(await prune(store)).toEqual(['removed', 'removed', 'removed']);
  expect(await readdir(dir)).toEqual([ID, 'a-file', 'assets', 'empty', 'logs', 'my-backups']);
});

test('only sessions are removed from a bucket that others use too', async () => {
  const options = s3Options(inject('s3Url'), { prefix: `${randomUUID()}/` });
  const [store, objects] = [openS3Store(options), createS3Objects(options)];
  await store.saveContext('mine', CONTEXT);
  await store.saveFiles(ID, Readable.from([Buffer.from('what a broken-off removal left')]));
  await objects.write('my-backups/monday.json', '{}');

  const inAnHour = new Date(Date.now() + 3_600_000);
  expect(await prune(store, { before: inAnHour })).toEqual(['removed', 'removed']);
  const left = await Array.fromAsync(objects.list(''));
  expect(left.map(({ name }) => name)).toEqual(['my-backups/monday.json']);
});

test('a session that is saved after it was listed stays', async () => {
  const { store, put } = arrange();
  await put('old/context.json', 'older/context.json');
  const whileFree: WhileFree = async (id, work) => {
    if (id === 'old') await store.saveContext('old', CONTEXT);
    await work();
    return true;
  };
  expect(await prune(store, { whileFree })).toEqual(['removed']);
  expect((await Array.fromAsync(store.catalog.list())).map(({ name }) => name)).toEqual(['old']);
});

test('what can not be read is named and left out, and the others go on', async () => {
  const unreadable: string[] = [];
  const { dir, store, put } = arrange((path) => unreadable.push(path));
  await put('one/context.json', 'two/context.json');
  await symlink('loop', join(dir, 'loop'));
  await symlink('meta.json', join(dir, 'one', 'meta.json'));

  expect((await Array.fromAsync(store.catalog.list())).map(({ name }) => name)).toEqual(['one', 'two']);
  expect(unreadable).toEqual([join(dir, 'loop'), join(dir, 'one', 'meta.json')]);
  expect(await prune(store)).toEqual(['removed', 'removed']);
  expect(await readdir(dir)).toEqual(['loop']);
});

test('what broken-off savings and removals left goes when it is old', async () => {
  const { dir, store, put } = arrange();
  const [gone, young, drafts, hollow] = [`s.${randomUUID()}.tmp`, `s.${randomUUID()}.tmp`, ID, randomUUID()];
  await put(
    `${gone}/history/0001.json`,
    `${drafts}/context.json.${randomUUID()}.tmp`,
    `${drafts}/context.lock`,
  );
  await put(
    `${ID}x/files/a.tar.gz.${randomUUID()}.tmp`,
    `theirs.${randomUUID()}.tmp/photo.jpg`,
    'kept/meta.json',
  );
  await mkdir(join(dir, hollow));
  await utimes(join(dir, hollow), LONG_AGO, LONG_AGO);
  await mkdir(join(dir, young));
  await writeFile(join(dir, young, 'context.json'), '{}');

  expect(await prune(store, { whileFree: async () => false })).toEqual(
    [...Array(4).fill('in-use'), 'removed'].toSorted(),
  );
  expect(existsSync(join(dir, gone))).toBe(false);
  expect(await prune(store)).toEqual(Array(4).fill('removed'));
  expect((await readdir(dir)).map((name) => name.slice(0, 7)).toSorted()).toEqual(
    [young.slice(0, 7), 'theirs.'].toSorted(),
  );
});

function arrange(onUnreadable?: (path: string) => void) {
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-prune-'));
  const put = async (...keys: string[]): Promise<void> => {
    for (const key of keys) {
      await mkdir(dirname(join(dir, key)), { recursive: true });
      await writeFile(join(dir, key), '{}');
      await utimes(join(dir, key), LONG_AGO, LONG_AGO);
    }
  };
  return { dir, put, store: openFolderStore({ dir, ...(onUnreadable && { onUnreadable }) }) };
}

async function prune({ catalog }: OpenedStore, changed: { before?: Date; whileFree?: WhileFree } = {}) {
  const whileFree: WhileFree = async (_id, work) => work().then(() => true);
  const pruned = await Array.fromAsync(pruneSessions({ catalog, before: BEFORE, whileFree, ...changed }));
  return pruned.map(({ outcome }) => outcome).toSorted();
}
