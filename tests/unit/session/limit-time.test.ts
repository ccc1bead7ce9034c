// A disk that hangs: whoever waits for it is told, in time.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { RetryableError } from '../../../src/errors.ts';
import { createSessionStore } from '../../../src/session/create-store.ts';
import { createFolderObjects } from '../../../src/session/folder/folder-objects.ts';
import { openFolderStore } from '../../../src/session/folder-store.ts';
import { limitTime } from '../../../src/session/limit-time.ts';
import type { SessionObjects } from '../../../src/session/objects.ts';
import { newMeta } from '../../services/session-meta.ts';

const TIMEOUT_MS = 100;
const CONTEXT = { version: 1 as const, messages: [{ role: 'user' as const, content: 'why?' }] };

test('a file whose reading hangs is an error that may pass, and says where', async () => {
  const dir = makeFolder();
  mkdirSync(join(dir, 's'));
  const path = join(dir, 's/context.json');
  execFileSync('mkfifo', [path]);
  // Lets the reader go.
  onTestFinished(() => writeFileSync(path, ''));
  const loading = openFolderStore({ dir, timeoutMs: TIMEOUT_MS }).load('s');
  await expect(loading).rejects.toThrow(RetryableError);
  await expect(loading).rejects.toThrow(`reading ${path}: no answer within ${TIMEOUT_MS} ms; the disk hangs`);
});

test('no operation on a disk that hangs is waited for', async () => {
  const hangs = (): Promise<never> => new Promise(() => undefined);
  const objects = createFolderObjects(makeFolder(), () => undefined);
  const names = ['read', 'write', 'writeStream', 'open', 'copy', 'remove', 'removeSession'] as const;
  const hanging: SessionObjects = {
    ...objects,
    ...Object.fromEntries([...names, 'move', 'append', 'check'].map((name) => [name, hangs])),
    list: () => ({ [Symbol.asyncIterator]: () => ({ next: hangs }) }),
  };
  const store = createSessionStore(limitTime(hanging, 10));
  const part = { name: 'files/a.tar.gz', bytes: 1, sha256: '' };
  const operations = [
    store.load('s'),
    store.saveContext('s', CONTEXT),
    store.saveMeta('s', newMeta('s')),
    store.saveFiles('s', Readable.from(['x'])),
    store.copyToSandbox('s', part),
    store.listFiles('s'),
    store.removeFiles('s', ['files/a.tar.gz']),
    store.saveHistory('s', CONTEXT.messages),
    store.setAside('s', 'old'),
    store.appendTranscript('s', {}),
    store.check(),
    Array.fromAsync(store.catalog.list()),
    store.catalog.remove('s'),
  ];
  for (const outcome of await Promise.allSettled(operations))
    expect(outcome).toMatchObject({ reason: expect.any(RetryableError) });
});

test('an archive may take longer, as long as it moves', async () => {
  const timeoutMs = 1_000;
  const store = openFolderStore({ dir: makeFolder(), timeoutMs });
  const slow = Readable.from(
    (async function* () {
      for (let piece = 0; piece < 6; piece += 1) {
        await new Promise((wait) => setTimeout(wait, timeoutMs / 4));
        yield Buffer.from('x');
      }
    })(),
  );
  expect(await store.saveFiles('s', slow)).toMatchObject({ bytes: 6 });

  const stuck = new Readable({ read: () => undefined });
  await expect(store.saveFiles('s', stuck)).rejects.toThrow(`nothing moved for ${timeoutMs} ms`);
});

test('an archive that can not be saved is not left open', async () => {
  const dir = makeFolder();
  writeFileSync(join(dir, 's'), 'in the way of the folder');
  const archive = new Readable({ read: () => undefined });
  await expect(openFolderStore({ dir }).saveFiles('s', archive)).rejects.toThrow(join(dir, 's'));
  await expect(finished(archive)).rejects.toThrow();
});

test('a file that opens after all is closed when nobody waits for it any more', async () => {
  const opening = Promise.withResolvers<Readable | null>();
  const objects = createFolderObjects(makeFolder(), () => undefined);
  const limited = limitTime({ ...objects, open: () => opening.promise }, 1);
  await expect(limited.open('s/sandbox.tar.gz')).rejects.toThrow(RetryableError);
  const late = new Readable({ read: () => undefined });
  opening.resolve(late);
  await expect(finished(late)).rejects.toThrow();
});

test('many events on a disk that hangs are waited for no longer than two', async () => {
  const objects = createFolderObjects(makeFolder(), () => undefined);
  const hanging = { ...objects, append: () => new Promise<never>(() => undefined) };
  const store = createSessionStore(limitTime(hanging, TIMEOUT_MS));
  const appends = Array.from({ length: 50 }, (_, n) => store.appendTranscript('s', { n }));
  const startedAt = performance.now();
  await Promise.all([store.flush('s'), Promise.allSettled(appends)]);
  expect(performance.now() - startedAt).toBeLessThan(10 * TIMEOUT_MS);
  for (const append of appends) await expect(append).rejects.toThrow(RetryableError);
});

test('events beyond what is held for a slow disk are refused, all others are written', async () => {
  const dir = makeFolder();
  const objects = createFolderObjects(dir, () => undefined);
  const ready = Promise.withResolvers<void>();
  const slow: SessionObjects = {
    ...objects,
    append: (key, line) => ready.promise.then(() => objects.append?.(key, line)),
  };
  const store = createSessionStore(slow);
  const text = 'x'.repeat(1024 * 1024);
  const outcomes = Promise.allSettled([1, 2, 3, 4, 5].map((n) => store.appendTranscript('s', { n, text })));
  ready.resolve();
  const refused = (await outcomes).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(2);
  expect(refused[0]).toHaveProperty('reason.message', expect.stringContaining('the disk hangs'));
  const lines = readFileSync(join(dir, 's/transcript.jsonl'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).n)).toEqual([1, 2, 3]);
});

test('objects that can not be deleted in time are told by the first and their number', async () => {
  const dir = makeFolder();
  const objects = createFolderObjects(dir, () => undefined);
  const limited = limitTime({ ...objects, remove: () => new Promise(() => undefined) }, 1);
  const first = join(dir, 's/files/a');
  await expect(limited.remove(['s/files/a'])).rejects.toThrow(`deleting ${first}: no answer`);
  await expect(limited.remove(['s/files/a', 's/files/b', 's/files/c'])).rejects.toThrow(
    `deleting ${first} and 2 more: no answer`,
  );
});

function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'hummingbird-disk-'));
}
