// hummingbird sessions …, as a process, on a folder and on S3.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { describe, expect, inject, test } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { openRecords } from '../../src/records/open-records.ts';
import type { OpenedStore } from '../../src/session/create-store.ts';
import { openFolderStore } from '../../src/session/folder-store.ts';
import { openS3Store } from '../../src/session/s3-store.ts';
import { pglite } from '../services/backends.ts';
import { startProgram } from '../services/program.ts';
import { S3_BUCKET, S3_KEYS, s3Options } from '../services/s3.ts';
import { newMeta } from '../services/session-meta.ts';

const ENV = { S3_ID: S3_KEYS.accessKeyId, S3_SECRET: S3_KEYS.secretAccessKey };

const PLACES = [
  {
    name: 'a folder',
    arrange(folder: string) {
      const dir = join(folder, 'sessions');
      return { store: openFolderStore({ dir }), section: { kind: 'folder', dir } };
    },
  },
  {
    name: 'S3',
    arrange() {
      const prefix = `${randomUUID()}/`;
      const endpoint = inject('s3Url');
      const credentials = { accessKeyIdEnv: 'S3_ID', secretAccessKeyEnv: 'S3_SECRET' };
      return {
        store: openS3Store(s3Options(endpoint, { prefix })),
        section: { kind: 's3', bucket: S3_BUCKET, prefix, endpoint, forcePathStyle: true, credentials },
      };
    },
  },
];

describe.each(PLACES)('hummingbird sessions in $name', ({ arrange }) => {
  test('list names all, those of a project or merge request, for people and programs', async () => {
    const { store, sessions } = begin(arrange);
    await save(store, 'aaaa1111', { projectPath: 'group/app', mrIid: 7, ending: 'answered', runs: 2 });
    await save(store, 'bbbb2222', { projectPath: 'group/\u001b[31mother', mrIid: 8 });
    await store.setAside('bbbb2222', 'old');

    const all = await sessions('list');
    expect(all.stdout).toMatch(
      /^aaaa1111 {2}\S+ {2}\d+ KB {2}group\/app!7 {2}answered {2}2 runs\nbbbb2222\.\d+\.old .*group\/other!8 {2}under way.*\n2 sessions\n$/,
    );
    const [one, ...others] = (await sessions('list', '--project', 'group/app', '--mr', '7', '--json')).stdout
      .trim()
      .split('\n');
    expect(others).toEqual([]);
    expect(JSON.parse(one ?? '')).toMatchObject({ name: 'aaaa1111', meta: { mrIid: 7 } });
    expect((await sessions('list', '--mr', '9')).stdout).toBe('0 sessions\n');
  });

  test('show tells what is kept, found by the beginning of the id, and what happened', async () => {
    const { store, sessions } = begin(arrange);
    await save(store, 'aaaa1111');
    await save(store, 'aaaa2222');
    await store.appendTranscript('aaaa1111', { type: 'ended' });
    await store.flush('aaaa1111');

    const shown = await sessions('show', 'aaaa1');
    expect(shown.stdout).toContain('"projectPath": "group/app"');
    expect(shown.stdout).toMatch(/\d+ {2}context\.json/);
    expect((await sessions('show', 'aaaa1', '--transcript')).stdout).toBe('{"type":"ended"}\n');
    expect(await sessions('show', 'aaaa')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('2 sessions begin with aaaa'),
    });
    expect(await sessions('show', 'zzzz')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no session zzzz'),
    });
  });

  test('export writes everything to a new file, and never over another', async () => {
    const { store, sessions, folder } = begin(arrange);
    await save(store, 'aaaa1111');
    const file = join(folder, 'session.tar.gz');
    expect((await sessions('export', 'aaaa1111', file)).code).toBe(0);
    const found: Record<string, string> = {};
    for await (const entry of Readable.from([readFileSync(file)])
      .pipe(createGunzip())
      .pipe(extract()))
      found[entry.header.name.replace(/[0-9a-f-]{36}/, 'ID')] = await text(entry);
    expect(Object.keys(found).toSorted()).toEqual([
      'aaaa1111/context.json',
      'aaaa1111/files/ID.tar.gz',
      'aaaa1111/meta.json',
    ]);
    expect(found['aaaa1111/files/ID.tar.gz']).toBe('files');
    expect(await sessions('export', 'aaaa1111', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is there already'),
    });
    const nowhere = join(file, '..', 'none', 'session.tar.gz');
    expect(await sessions('export', 'aaaa1111', nowhere)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`the folder of ${nowhere} is not there; make it, or name another file`),
    });
  });

  test('delete asks first, and leaves a session alone that is being worked on', async () => {
    const { store, sessions } = begin(arrange, await withLease('bbbb2222'));
    await save(store, 'aaaa1111');
    await save(store, 'bbbb2222');
    expect(await sessions('delete', 'aaaa')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--yes'),
    });
    expect((await sessions('delete', 'aaaa', '--yes')).stdout).toBe('session aaaa1111 is deleted\n');
    expect(await sessions('delete', 'bbbb', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is being worked on'),
    });
    const left = await Array.fromAsync(store.catalog.list());
    expect(left.map(({ name }) => name)).toEqual(['bbbb2222']);
  });

  test('prune deletes what is old, and says what it would', async () => {
    const { store, sessions } = begin(arrange);
    await save(store, 'aaaa1111');
    expect((await sessions('prune')).stdout).toBe('0 deleted\n');
    expect((await sessions('prune', '--older-than', '0h', '--dry-run')).stdout).toMatch(
      /^old {2}aaaa1111 .*\n1 would be deleted\n$/,
    );
    expect((await sessions('prune', '--older-than', '0h')).stdout).toMatch(/1 deleted\n$/);
    expect(await Array.fromAsync(store.catalog.list())).toEqual([]);
  });
});

test('without a database that can be reached, what was saved of late is left alone', async () => {
  const [place] = PLACES;
  if (!place) throw new Error('no place');
  const { store, sessions } = begin(place.arrange, 'redis://127.0.0.1:9/0');
  await save(store, 'aaaa1111');
  expect(await sessions('prune', '--older-than', '0h')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^in use {2}aaaa1111[\s\S]*0 deleted, 1 in use\n$/),
    stderr: expect.stringContaining('saved in the last two hours are left alone'),
  });
});

test('neither what is shown nor an error tells a secret of the service', async () => {
  const [place] = PLACES;
  if (!place) throw new Error('no place');
  const secret = 'token-that-reads-4711';
  const { store, sessions } = begin(place.arrange, undefined, { GITLAB_READ_TOKEN: secret });
  await save(store, 'aaaa1111', { projectPath: `group/${secret}` });
  const all = [await sessions('list'), await sessions('show', 'aaaa'), await sessions('show', secret)];
  expect(all.map(({ code }) => code)).toEqual([0, 0, 1]);
  for (const { stdout, stderr } of all) expect(stdout + stderr).toContain('[redacted: own-secret]');
  expect(JSON.stringify(all)).not.toContain(secret);
});

test.each([
  [['sessions', 'prune', '--older-than', 'soon'], 'such as 30d or 12h'],
  [['sessions', 'list', '--mr', 'x'], 'A number is needed'],
  [['sessions', 'show'], "missing required argument 'id'"],
])('%j is wrong usage', async (args, message) => {
  const { code, stderr } = await startProgram(args).ended;
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('sessions --help names every command', async () => {
  const { stdout } = await startProgram(['sessions', '--help']).ended;
  expect(stdout).toMatch(/list[\s\S]*show[\s\S]*export[\s\S]*delete[\s\S]*prune/);
});

type Place = (typeof PLACES)[number];

function begin(arrange: Place['arrange'], queueUrl?: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-sessions-cli-'));
  const { store, section } = arrange(folder);
  const file = join(folder, 'hummingbird.yaml');
  writeFileSync(
    file,
    JSON.stringify({ store: section, queue: { url: queueUrl ?? `pglite:${folder}/none` } }),
  );
  const sessions = (...args: string[]) =>
    startProgram(['sessions', ...args, '-c', file], { ...ENV, ...env }).ended;
  return { store, sessions, folder };
}

async function save(store: OpenedStore, id: string, changed = {}): Promise<void> {
  const files = [await store.saveFiles(id, Readable.from([Buffer.from('files')]))];
  await store.saveContext(id, { version: 1, messages: [{ role: 'user', content: 'why?' }], files });
  await store.saveMeta(id, newMeta(id, changed));
}

/** The address of a database in which somebody works on this session. */
async function withLease(id: string): Promise<string> {
  const { url, keyPrefix } = await pglite.create();
  const database = await openDatabase(url, { keyPrefix, onError: () => undefined, learn: () => undefined });
  const records = await openRecords(database, () => undefined);
  await records.leases.acquire(`session-${id}`, { holder: 'a job', ttlMs: 600_000 });
  await records.close();
  await database.close();
  return url;
}
