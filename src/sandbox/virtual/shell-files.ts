// The sandbox's files on their way into the shell and back.
import { posix } from 'node:path';
import type { InMemoryFs } from 'just-bash';
import type { FileChange, FileEntry, FileMap } from './file-entry.ts';
import { isSystemPath } from './system-path.ts';

export async function putFiles(fs: InMemoryFs, files: FileMap): Promise<void> {
  for (const [path, entry] of files) {
    if (entry.kind === 'folder') fs.mkdirSync(path, { recursive: true });
    else if (entry.kind === 'link') await fs.symlink(entry.target, path);
    else fs.writeFileSync(path, entry.bytes, 'binary', { mode: entry.mode, mtime: new Date(entry.mtimeMs) });
  }
}

/** What is different now from the files that were put in. */
export async function findChanges(fs: InMemoryFs, before: FileMap): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  const paths = new Set(fs.getAllPaths().filter(isKept));
  for (const path of before.keys()) if (!paths.has(path)) changes.push({ path, entry: null });
  for (const path of paths) {
    if (!(await isReachable(fs, path))) continue;
    const entry = await readEntry(fs, path);
    if (!isSame(entry, before.get(path))) changes.push({ path, entry });
  }
  return changes;
}

/** Not of the shell itself. */
export function isKept(path: string): boolean {
  return path !== '/' && !isSystemPath(path);
}

/** The shell's files can hold a path below a link or below a file, which it can not open itself. */
export async function isReachable(fs: InMemoryFs, path: string): Promise<boolean> {
  const folder = posix.dirname(path);
  return (await fs.exists(folder)) && (await fs.realpath(folder)) === folder;
}

/** Null when there is nothing at this path, which must be reachable. */
export async function readEntry(fs: InMemoryFs, path: string): Promise<FileEntry | null> {
  const stat = await fs.lstat(path).catch(() => null);
  if (!stat) return null;
  if (stat.isDirectory) return { kind: 'folder' };
  if (stat.isSymbolicLink) return { kind: 'link', target: await fs.readlink(path) };
  return {
    kind: 'file',
    bytes: await fs.readFileBuffer(path),
    mode: stat.mode,
    mtimeMs: stat.mtime.getTime(),
  };
}

export function isSame(now: FileEntry | null, before: FileEntry | undefined): boolean {
  if (!now) return !before;
  if (now.kind === 'folder') return before?.kind === 'folder';
  if (now.kind === 'link') return before?.kind === 'link' && before.target === now.target;
  // The shell never writes into bytes it holds, it replaces them: other bytes are another object.
  return (
    before?.kind === 'file' &&
    before.bytes === now.bytes &&
    before.mode === now.mode &&
    before.mtimeMs === now.mtimeMs
  );
}
