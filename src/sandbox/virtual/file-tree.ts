import { type FileCaps, tooManyBytes, tooManyFiles } from '../file-caps.ts';
import { foldersAbove } from '../sandbox-path.ts';
import { changeFiles, type FileChange, type FileEntry, type FileMap } from './file-entry.ts';

/** The files of one sandbox, within their caps. */
export interface FileTree {
  /** As of now: later changes make a new map. */
  files(): FileMap;
  /** All changes or, when they do not fit (`SandboxFullError`), none. */
  apply(changes: readonly FileChange[]): void;
  /** Makes missing folders; throws when something that is no folder is in the way. */
  put(path: string, entry: FileEntry): void;
  /** Sorted; empty when there is no such folder. */
  namesIn(folder: string): string[];
  /** Throws `SandboxFullError` when so many bytes do not fit beside all files but the one they replace. */
  assertRoom(bytes: number, replacing: string): void;
}

export function createFileTree({ maxBytes, maxFiles }: FileCaps): FileTree {
  let files: FileMap = new Map();

  function apply(changes: readonly FileChange[]): void {
    const next = withChanges(files, changes);
    if (bytesOf(next) > maxBytes) throw tooManyBytes(maxBytes);
    if (next.size > maxFiles) throw tooManyFiles(maxFiles);
    files = next;
  }

  return {
    files: () => files,
    apply,
    put(path, entry) {
      if (path === '/' || files.get(path)?.kind === 'folder')
        throw new Error(`A folder, not a file: ${path}`);
      const file = foldersAbove(path).find((above) => files.get(above)?.kind === 'file');
      if (file) throw new Error(`A file, not a folder: ${file}`);
      apply([{ path, entry }]);
    },
    namesIn(folder) {
      const start = folder === '/' ? '/' : `${folder}/`;
      const inside = [...files.keys()]
        .filter((path) => path.startsWith(start))
        .map((path) => path.slice(start.length));
      return inside.filter((name) => !name.includes('/')).sort();
    },
    assertRoom(bytes, replacing) {
      const replaced = bytesOfEntry(files.get(replacing));
      if (bytesOf(files) - replaced + bytes > maxBytes) throw tooManyBytes(maxBytes);
    },
  };
}

function withChanges(files: FileMap, changes: readonly FileChange[]): FileMap {
  const next = changeFiles(files, changes);
  // A file that came in while a command removed its folder keeps the folder; one whose folder has become
  // a file can not be reached by anyone.
  for (const path of [...next.keys()]) {
    const above = foldersAbove(path);
    if (above.some((folder) => (next.get(folder)?.kind ?? 'folder') !== 'folder')) next.delete(path);
    else for (const folder of above) if (!next.has(folder)) next.set(folder, { kind: 'folder' });
  }
  return next;
}

function bytesOf(files: FileMap): number {
  let sum = 0;
  for (const entry of files.values()) sum += bytesOfEntry(entry);
  return sum;
}

function bytesOfEntry(entry: FileEntry | undefined): number {
  return entry?.kind === 'file' ? entry.bytes.byteLength : 0;
}
