import { dirname } from 'node:path/posix';
import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createChangeReport } from '../../../src/sandbox/virtual/change-report.ts';
import {
  changeFiles,
  type FileEntry,
  type FileMap,
  toStoredFile,
} from '../../../src/sandbox/virtual/file-entry.ts';
import { createFileTree } from '../../../src/sandbox/virtual/file-tree.ts';
import { MeteredFs } from '../../../src/sandbox/virtual/metered-fs.ts';
import { createPendingFiles } from '../../../src/sandbox/virtual/pending-files.ts';
import { findChanges, putFiles } from '../../../src/sandbox/virtual/shell-files.ts';
import type { ShellMessage } from '../../../src/sandbox/virtual/shell-message.ts';

const START: FileMap = new Map<string, FileEntry>([
  ['/tmp', { kind: 'folder' }],
  ['/tmp/a', toStoredFile(Buffer.from('first\n'))],
  ['/tmp/l', { kind: 'link', target: 'd' }],
  ['/tmp/d', { kind: 'folder' }],
  ['/tmp/d/b', toStoredFile(Buffer.from('second\n'))],
]);

test('whatever is done to the files, what was told of it makes the same files elsewhere', async () => {
  const path = fc.constantFrom('/tmp/a', '/tmp/d', '/tmp/d/b', '/tmp/l', '/tmp/l/b', '/tmp/n', '/tmp/d/n');
  const step = fc.tuple(fc.constantFrom(...Object.keys(STEPS)), path, path);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { fs, pending } = await watchFiles();
      for (const [name, one, other] of steps) {
        // Below what is no folder the shell's files can hold what no command sees.
        if (!(await isFolder(fs, dirname(one))) || !(await isFolder(fs, dirname(other)))) continue;
        // Some can not be done: a file is no folder. That changes nothing, or what it had changed before.
        await STEPS[name]?.(fs, one, other).catch(() => undefined);
      }
      const expected = changeFiles(START, await findChanges(fs, START));
      expect(withoutFolders(pending.settle())).toEqual(withoutFolders(expected));
    }),
    { numRuns: 500 },
  );
});

test('a line more in a large file, its move and its copy are told in few bytes', async () => {
  const { fs, told } = await watchFiles();
  await fs.writeFile('/tmp/large', Buffer.alloc(1_000_000, 'x'));
  const before = told.bytes;
  await fs.appendFile('/tmp/large', 'more\n');
  await fs.mv('/tmp/large', '/tmp/moved');
  await fs.cp('/tmp/moved', '/tmp/copy');
  await fs.link('/tmp/moved', '/tmp/link');
  await fs.chmod('/tmp/copy', 0o700);
  expect(before).toBeGreaterThan(1_000_000);
  expect(told.bytes - before).toBeLessThan(2000);
});

test('a rapid series is told in batches, and to its end though no timer ever runs', async () => {
  const { fs, pending, told } = await watchFiles();
  const lines = Array.from({ length: 5000 }, (_, line) => `${line}\n`);
  const startedAt = performance.now();
  const hasAll = () => contentOf(pending.settle(), '/tmp/log') === lines.join('');
  const elapsedMs = () => performance.now() - startedAt;

  for (const line of lines) await fs.appendFile('/tmp/log', line);
  const messages = told.messages;
  expect(messages).toBeLessThanOrEqual(100 + elapsedMs() / 2);
  while (told.messages === messages && !hasAll() && elapsedMs() < 20_000) await null;

  expect(hasAll()).toBe(true);
});

test('a file that grows by a line very often is held and joined without delay', () => {
  const pending = createPendingFiles(START);
  const more = Buffer.from('a line of a log\n');
  for (let line = 0; line < 100_000; line += 1) {
    const entry = { kind: 'grown' as const, base: '/tmp/a', more, mode: 0o644, mtimeMs: line };
    pending.apply([{ path: '/tmp/a', entry }]);
  }
  const file = pending.settle()?.get('/tmp/a');
  expect(file?.kind === 'file' && file.bytes.byteLength).toBe(6 + 100_000 * more.byteLength);
});

test('after a write without room nothing counts', async () => {
  const { fs, report, pending } = await watchFiles(1000);
  await fs.writeFile('/tmp/a', 'changed');
  await expect(fs.writeFile('/tmp/large', Buffer.alloc(100_000))).rejects.toThrow('ENOSPC');
  await fs.writeFile('/tmp/n', 'small');
  expect(await report.finish()).toBeNull();
  expect(pending.settle()).toBeNull();
});

const STEPS: Record<string, (fs: MeteredFs, one: string, other: string) => Promise<unknown>> = {
  write: async (fs, path, other) => (await isFolder(fs, path)) || fs.writeFile(path, `${other}\n`),
  append: (fs, path, other) => fs.appendFile(path, `${other}\n`),
  appendNothing: (fs, path) => fs.appendFile(path, ''),
  remove: (fs, path) => fs.rm(path, { recursive: true }),
  move: async (fs, from, to) => (await isFolder(fs, to)) || fs.mv(from, to),
  copy: async (fs, from, to) => (await isFolder(fs, to)) || fs.cp(from, to, { recursive: true }),
  link: (fs, from, to) => fs.link(from, to),
  symlink: (fs, target, path) => fs.symlink(target, path),
  mode: (fs, path) => fs.chmod(path, 0o700),
  time: (fs, path) => fs.utimes(path, new Date(0), new Date(1000)),
  folder: (fs, path) => fs.mkdir(path, { recursive: true }),
};

function contentOf(files: FileMap | null, path: string): string | undefined {
  const entry = files?.get(path);
  return entry?.kind === 'file' ? Buffer.from(entry.bytes).toString() : undefined;
}

/** No command writes over a folder. */
async function isFolder(fs: MeteredFs, path: string): Promise<boolean> {
  return (await fs.exists(path)) && (await fs.stat(path)).isDirectory;
}

async function watchFiles(maxBytes = 10_000_000) {
  const fs = new MeteredFs(maxBytes);
  await putFiles(fs, START);
  const pending = createPendingFiles(START);
  const told = { messages: 0, bytes: 0 };
  const report = createChangeReport(fs, START, async (message) => {
    const wire = serialize(message);
    told.messages += 1;
    told.bytes += wire.byteLength;
    const heard = deserialize(wire) as ShellMessage;
    if (heard.kind === 'changed') pending.apply(heard.changes);
    if (heard.kind === 'full') pending.discard();
  });
  fs.watcher = report;
  return { fs, report, pending, told };
}

/** As the sandbox would take them over. A folder that came with a file is told at the end only. */
function withoutFolders(files: FileMap | null): Record<string, unknown> {
  const tree = createFileTree({ maxBytes: 10_000_000, maxFiles: 1000 });
  tree.apply([...(files ?? [])].map(([path, entry]) => ({ path, entry })));
  const kept = [...tree.files()].filter(([, entry]) => entry.kind !== 'folder').sort();
  return Object.fromEntries(
    kept.map(([path, entry]) => [
      path,
      entry.kind === 'file' ? { ...entry, bytes: Buffer.from(entry.bytes).toString() } : entry,
    ]),
  );
}
