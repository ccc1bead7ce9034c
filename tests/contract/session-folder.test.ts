import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { PermanentError } from '../../src/errors.ts';
import { openFolderStore } from '../../src/session/folder-store.ts';
import { type SessionContext, SessionCorruptError } from '../../src/session/session-store.ts';
import { sessionContract } from './session-contract.ts';

sessionContract({
  name: 'folder',
  async open() {
    const dir = await mkdtemp(join(tmpdir(), 'hummingbird-sessions-'));
    return {
      store: openFolderStore({ dir }),
      reopen: () => openFolderStore({ dir }),
      read: (id, name) => readFile(join(dir, id, name)).catch(() => null),
      async write(id, name, content) {
        const path = join(dir, id, name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
      },
      close: () => rm(dir, { recursive: true }),
    };
  },
});

const CONTEXT: SessionContext = { version: 1, messages: [{ role: 'user', content: 'why?' }] };

describe('sessions in a folder', () => {
  const dirs: string[] = [];
  afterEach(async () => {
    for (const dir of dirs.splice(0)) await rm(dir, { recursive: true });
  });

  async function makeDir(): Promise<string> {
    const dir = await mkdtemp(join(tmpdir(), 'hummingbird-sessions-'));
    dirs.push(dir);
    return dir;
  }

  test('are made with their folder when the first one is saved, for the owner only', async () => {
    const dir = join(await makeDir(), 'not', 'yet');
    const store = openFolderStore({ dir });
    await store.saveContext('s', CONTEXT);
    await store.saveFiles('s', Readable.from([Buffer.from('x')]));
    await store.saveContext('s', { ...CONTEXT, stamp: { id: 'a', after: null } });
    await store.appendTranscript('s', {});
    expect(await modeOf(join(dir, 's'))).toBe(0o700);
    for (const entry of await readdir(join(dir, 's'), { recursive: true, withFileTypes: true }))
      expect(await modeOf(join(entry.parentPath, entry.name)), entry.name).toBe(
        entry.isDirectory() ? 0o700 : 0o600,
      );
  });

  test('take and give archives of 200 MB without holding them', async () => {
    const store = openFolderStore({ dir: await makeDir() });
    const [chunk, chunks] = [Buffer.alloc(1024 * 1024, 'log line\n'), 200];
    const before = process.memoryUsage().rss;
    let most = before;
    const look = (): void => {
      most = Math.max(most, process.memoryUsage().rss);
    };
    const content = function* () {
      for (let at = 0; at < chunks; at += 1) yield Buffer.from(chunk);
    };
    const part = await store.saveFiles('s', Readable.from(content()).on('data', look));
    await store.saveContext('s', { ...CONTEXT, files: [part] });
    const [open] = (await (await store.load('s'))?.openFiles()) ?? [];
    let bytes = 0;
    for await (const read of (await open?.()) ?? []) {
      bytes += read.length;
      look();
    }
    expect(bytes).toBe(chunks * chunk.length);
    expect(most - before).toBeLessThan(100 * 1024 * 1024);
  });

  test('that are set aside lose nothing', async () => {
    const dir = await makeDir();
    const store = openFolderStore({ dir });
    const part = await store.saveFiles('s', Readable.from([Buffer.from('files')]));
    await store.saveContext('s', { ...CONTEXT, files: [part] });
    await store.setAside('s', 'old');
    const [name = ''] = await readdir(dir);
    expect(name).toMatch(/^s\.\d+\.old$/);
    expect(await readFile(join(dir, name, 'context.json'), 'utf8')).toContain('why?');
    expect(await readFile(join(dir, name, part.name), 'utf8')).toBe('files');
  });

  test('ignore what a stopped process left half written', async () => {
    const dir = await makeDir();
    const store = openFolderStore({ dir });
    await mkdir(join(dir, 's'));
    await writeFile(join(dir, 's', 'context.json.1.tmp'), '{"version":1,"mess');
    expect(await store.load('s')).toBeNull();
    await store.saveContext('s', CONTEXT);
    await writeFile(join(dir, 's', 'sandbox.tar.gz.2.tmp'), 'half');
    const session = await store.load('s');
    expect(session?.context).toEqual(CONTEXT);
    expect(await session?.openFiles()).toEqual([]);
  });

  test('leave nothing behind when a save fails', async () => {
    const dir = await makeDir();
    const store = openFolderStore({ dir });
    const broken = new Readable({ read: () => broken.destroy(new Error('gone')) });
    await expect(store.saveFiles('s', broken)).rejects.toThrow('gone');
    expect(await readdir(join(dir, 's', 'files'))).toEqual([]);
  });

  test('go on with a new line after half a line in the transcript', async () => {
    const dir = await makeDir();
    const store = openFolderStore({ dir });
    await store.appendTranscript('s', { n: 1 });
    await writeFile(join(dir, 's', 'transcript.jsonl'), '{"n":2,"te', { flag: 'a' });
    await store.appendTranscript('s', { n: 3 });
    expect(await readFile(join(dir, 's', 'transcript.jsonl'), 'utf8')).toBe('{"n":1}\n{"n":2,"te\n{"n":3}\n');
  });

  test.each<[string, (folder: string) => Promise<unknown>]>([
    [
      'a folder where the conversation should be',
      (folder) => mkdir(join(folder, 'context.json'), { recursive: true }),
    ],
    ['a file where the folder should be', (folder) => writeFile(folder, 'hi')],
    [
      'a link that leads nowhere but to itself',
      async (folder) => {
        await mkdir(folder);
        await symlink('context.json', join(folder, 'context.json'));
      },
    ],
  ])('are corrupt with %s, and can be set aside', async (_what, spoil) => {
    const dir = await makeDir();
    const store = openFolderStore({ dir });
    await spoil(join(dir, 's'));
    await expect(store.load('s')).rejects.toThrow(SessionCorruptError);
    await store.setAside('s', 'bad');
    expect(await store.load('s')).toBeNull();
    await store.saveContext('s', CONTEXT);
  });

  const isRoot = process.getuid?.() === 0;
  const note = isRoot ? ' (skipped: root may read everything)' : '';
  test.skipIf(isRoot)(`are corrupt when this process may not read them${note}`, async () => {
    const dir = await makeDir();
    const store = openFolderStore({ dir });
    await store.saveContext('s', CONTEXT);
    await chmod(join(dir, 's'), 0);
    await expect(store.load('s')).rejects.toThrow(/can not be read \(EACCES\)/);
    await store.setAside('s', 'bad');
    expect(await store.load('s')).toBeNull();
    const [aside = ''] = await readdir(dir);
    await chmod(join(dir, aside), 0o700);
    expect(await readdir(join(dir, aside))).toEqual(['context.json']);
  });

  test('that can not be set aside either need a person, who is told what to do', async () => {
    const dir = join(await makeDir(), 'x'.repeat(300));
    const failure = openFolderStore({ dir }).setAside('s', 'bad');
    await expect(failure).rejects.toThrow(PermanentError);
    await expect(failure).rejects.toThrow(`the right to write to ${dir}`);
  });

  test('pass on an error of the disk as it is', async () => {
    const dir = join(await makeDir(), 'x'.repeat(300));
    await expect(openFolderStore({ dir }).load('s')).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  });

  test('append again after an append that failed', async () => {
    const dir = await makeDir();
    const store = openFolderStore({ dir });
    const transcript = join(dir, 's', 'transcript.jsonl');
    await mkdir(transcript, { recursive: true });
    const failing = expect(store.appendTranscript('s', { n: 1 })).rejects.toMatchObject({ code: 'EISDIR' });
    const waiting = store.appendTranscript('s', { n: 2 }).catch(() => undefined);
    await failing;
    await waiting;
    await rm(transcript, { recursive: true });
    await store.appendTranscript('s', { n: 3 });
    expect(await readFile(transcript, 'utf8')).toBe('{"n":3}\n');
  });
});

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}
