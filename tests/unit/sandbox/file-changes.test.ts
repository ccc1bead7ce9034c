import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import fc from 'fast-check';
import { extract } from 'tar-stream';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { mergeArchives } from '../../../src/sandbox/archive/merge-archives.ts';
import type { FilesMark, Sandbox } from '../../../src/sandbox/sandbox.ts';
import { createVirtualSandboxes } from '../../../src/sandbox/virtual/provider.ts';
import { exec, openSandbox } from '../../services/docker-sandboxes.ts';
import { dockerGap, ENGINE_MS, sharedDocker, titleWithDocker } from '../../services/shared-docker.ts';

const FOLDERS = ['/tmp/_out', '/tmp/data'];
const ALL = Number.MAX_SAFE_INTEGER;

const STEPS = [
  'echo one > data/a; mkdir data/logs; echo log > data/logs/unit.log',
  'true',
  'echo two > data/a; touch -d "2001-01-01" data/a',
  'mv data/logs data/old; ln -s a data/link',
  'rm -r data/old; echo x > data/old',
  'rm data/old; mkdir -p data/old/deep; echo y > data/old/deep/z; chmod 755 data/a',
  'for n in 1 2 3 4 5 6 7 8 9; do echo $n > _out/$n; done',
  'rm -rf data/* _out/*',
  'mkdir data/empty',
];

describe('archives of changes, laid over each other', () => {
  test('make the same files as one of all, after every step', () => makesTheSame(openVirtual));

  test('of any changes, with any limit, make the same files as one of all', async () => {
    const path = fc.constantFrom('a', 'b', 'c/a', 'c/b', 'c/d/e', 'b/x');
    const step = fc.oneof(
      fc
        .tuple(path, fc.nat(3), fc.nat(400))
        .map(([name, seed, size]) => ({ name, content: `${seed}`.repeat(size) })),
      path.map((name) => ({ name, content: null })),
    );
    const steps = fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(ALL, 600, 150), async (rounds, maxBytes) => {
        const files = new Map<string, string>();
        const { saved, save } = createSaver(await openFilled(files), maxBytes);
        await save();
        for (const round of rounds) {
          for (const { name, content } of round) change(files, `/tmp/data/${name}`, content);
          const sandbox = await openFilled(files);
          // Another sandbox has marks of its own: everything in it is new, but what is gone is still told.
          await save(sandbox);
          const expected = await contentOf(sandbox.archive(FOLDERS, maxBytes));
          expect(await contentOf(await mergeArchives(saved))).toEqual(expected);
        }
      }),
      { numRuns: 6 },
    );
  });

  test('a turn that changes nothing has none, and one that changes a little has little', async () => {
    const sandbox = await openVirtual();
    await sandbox.writeFile('/tmp/data/large', Buffer.alloc(500_000, 'x'));
    const first = await sandbox.findChanges(FOLDERS, ALL, null);
    expect((await sandbox.findChanges(FOLDERS, ALL, first.mark)).pack).toBeNull();
    await sandbox.writeFile('/tmp/data/small', 'y');
    const { pack } = await sandbox.findChanges(FOLDERS, ALL, first.mark);
    expect(Object.keys(await contentOf(pack?.() ?? null))).toEqual(['/tmp/data/small']);
  });

  test('go on from files that were restored', async () => {
    const sandbox = await openVirtual();
    await sandbox.writeFile('/tmp/data/a', 'a');
    const archive = await buffer(sandbox.archive(FOLDERS, ALL));
    const other = await openVirtual();
    await other.restore(Readable.from([archive]));
    const mark = await other.mark(FOLDERS);
    expect((await other.findChanges(FOLDERS, ALL, mark)).pack).toBeNull();
  });

  test('one of which is broken gives its own error', async () => {
    const sandbox = await openVirtual();
    const good = await buffer(sandbox.archive(FOLDERS, ALL));
    const failing = () => {
      const stream: Readable = new Readable({ read: () => stream.destroy(new Error('altered')) });
      return stream;
    };
    const merged = await mergeArchives([async () => failing(), async () => Readable.from([good])]);
    await expect((await openVirtual()).restore(merged)).rejects.toThrow('altered');
    const cut = await mergeArchives([
      async () => Readable.from([good.subarray(0, 20)]),
      async () => Readable.from([good]),
    ]);
    await expect((await openVirtual()).restore(cut)).rejects.toThrow('archive is broken');
  });
});

describe.skipIf(dockerGap !== null)(titleWithDocker('archives of changes'), () => {
  beforeAll(sharedDocker, ENGINE_MS);

  test('of a container make the same files as one of all, after every step', () =>
    makesTheSame(() => openSandbox()));
});

async function makesTheSame(open: () => Sandbox | Promise<Sandbox>): Promise<void> {
  const sandbox = await open();
  const { saved, save } = createSaver(sandbox, ALL);
  await save();
  for (const step of STEPS) {
    expect(await exec(sandbox, step)).toMatchObject({ stderr: '' });
    const before = saved.length;
    await save();
    if (step === 'true') expect(saved).toHaveLength(before);
    const expected = await contentOf(sandbox.archive(FOLDERS, ALL));
    expect(await contentOf(await mergeArchives(saved)), step).toEqual(expected);
  }
}

function createSaver(first: Sandbox, maxBytes: number) {
  const saved: (() => Promise<Readable>)[] = [];
  let mark: FilesMark | null = null;
  const save = async (sandbox: Sandbox = first): Promise<void> => {
    const change = await sandbox.findChanges(FOLDERS, maxBytes, mark);
    mark = change.mark;
    if (!change.pack) return;
    const bytes = await buffer(change.pack());
    saved.push(async () => Readable.from([bytes]));
  };
  return { saved, save };
}

async function openVirtual(): Promise<Sandbox> {
  const sandbox = await createVirtualSandboxes({ maxBytes: 10_000_000 }).create();
  onTestFinished(() => sandbox.close());
  return sandbox;
}

async function openFilled(files: ReadonlyMap<string, string>): Promise<Sandbox> {
  const sandbox = await openVirtual();
  for (const [path, content] of files) await sandbox.writeFile(path, content);
  return sandbox;
}

/** As it would be in a file system: a file is in nobody's way. */
function change(files: Map<string, string>, path: string, content: string | null): void {
  for (const other of [...files.keys()])
    if (other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other);
  if (content !== null) files.set(path, content);
}

/** What is in an archive, by path; of a file its mode and content. */
async function contentOf(archive: Readable | null): Promise<Record<string, string>> {
  if (!archive) return {};
  const found: [string, string][] = [];
  for await (const entry of archive.pipe(createGunzip()).pipe(extract())) {
    const { name, type, mode } = entry.header;
    found.push([`/${name.replace(/\/$/, '')}`, type === 'file' ? `${mode} ${await text(entry)}` : 'folder']);
    entry.resume();
  }
  return Object.fromEntries(found.sort());
}
