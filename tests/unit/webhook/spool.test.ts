import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AcceptedEvent, openSpool, type SpoolOptions } from '../../../src/webhook/spool.ts';

function event(noteId: number): AcceptedEvent {
  const project = { id: 5, path: 'shop/checkout' };
  const job = {
    kind: 'reply' as const,
    project,
    mrIid: 7,
    noteId,
    discussionId: 'd',
    authorId: 1,
    mentioned: false,
  };
  return { job, eventKey: `reply/5/${noteId}`, keys: [`reply/5/${noteId}`] };
}

function newFolder(): string {
  return join(mkdtempSync(join(tmpdir(), 'hummingbird-spool-')), 'spool');
}

function open(dir: string, options: Partial<SpoolOptions> = {}) {
  return openSpool({ dir, maxBytes: 10_000, onBadFile: () => undefined, ...options });
}

test('events come back in their order, also after a restart, and once', async () => {
  const dir = newFolder();
  const before = await open(dir);
  for (const id of [1, 2, 3]) await before.put(event(id));
  const after = await open(dir);
  expect(after.size()).toMatchObject({ events: 3 });
  const taken: AcceptedEvent[] = [];
  await after.drain(async (one) => {
    taken.push(one);
    return 'taken';
  });
  expect(taken).toEqual([event(1), event(2), event(3)]);
  expect(after.size()).toEqual({ events: 0, bytes: 0 });
  expect(readdirSync(dir)).toEqual([]);
});

test('an event that is not taken stays, and a failure stops the offering', async () => {
  const spool = await open(newFolder());
  await spool.put(event(1));
  await spool.put(event(2));
  await spool.drain(async () => 'later');
  expect(spool.size().events).toBe(2);
  let offered = 0;
  const away = spool.drain(async () => {
    offered += 1;
    throw new Error('still away');
  });
  await expect(away).rejects.toThrow('still away');
  expect(offered).toBe(1);
  expect(spool.size().events).toBe(2);
});

test('a file that can not be read is set aside, reported, and keeps nothing else waiting', async () => {
  const dir = newFolder();
  const bad: string[] = [];
  const spool = await open(dir, { onBadFile: (file) => bad.push(file) });
  writeFileSync(join(dir, '000-broken.json'), '{"job":');
  writeFileSync(join(dir, '001-strange.json'), '{"job":{"kind":"reply"}}');
  await spool.put(event(1));
  const taken: string[] = [];
  await spool.drain(async ({ eventKey }) => {
    taken.push(eventKey);
    return 'taken';
  });
  expect(taken).toEqual(['reply/5/1']);
  expect(bad).toEqual(['000-broken.json', '001-strange.json']);
  expect(readdirSync(dir).toSorted()).toEqual(['000-broken.json.bad', '001-strange.json.bad']);
});

test('an event the queue refuses is set aside, and those behind it are taken', async () => {
  const dir = newFolder();
  const spool = await open(dir);
  await spool.put(event(1));
  await spool.put(event(2));
  await spool.drain(async ({ eventKey }) => (eventKey === 'reply/5/1' ? 'refused' : 'taken'));
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/\.json\.bad$/)]);
  expect(spool.size()).toEqual({ events: 0, bytes: 0 });
});

test('a folder that was removed is made again, and one that is shared is counted as it is', async () => {
  const dir = newFolder();
  const [one, other] = [await open(dir), await open(dir)];
  rmSync(dir, { recursive: true });
  await one.put(event(1));
  await other.drain(async () => 'taken');
  await one.drain(async () => 'taken');
  expect(one.size()).toEqual({ events: 0, bytes: 0 });
});

test('a full spool refuses, and says so when asked for its health', async () => {
  const dir = newFolder();
  const spool = await open(dir, { maxBytes: 300 });
  await spool.put(event(1));
  await expect(spool.put(event(2))).rejects.toThrow(`the spool ${dir} has reached 300 bytes`);
  expect(await spool.check()).toMatchObject({ events: 1 });
  await expect(open(dir, { maxBytes: 100 }).then((full) => full.check())).rejects.toThrow(
    'has reached 100 bytes',
  );
});

test('what is on disk can be read by its owner only', async () => {
  const dir = newFolder();
  const spool = await open(dir);
  await spool.put(event(1));
  const [file = ''] = readdirSync(dir);
  expect(JSON.parse(readFileSync(join(dir, file), 'utf8'))).toEqual(event(1));
  expect(statSync(join(dir, file)).mode & 0o077).toBe(0);
});
