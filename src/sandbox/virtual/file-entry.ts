// What the sandbox holds. Nobody writes into the bytes of a file: one that changes gets a new entry, so that
// the same object always means the same content.
export type FileEntry = StoredFile | { kind: 'folder' } | { kind: 'link'; target: string };

export interface StoredFile {
  kind: 'file';
  bytes: Uint8Array;
  mode: number;
  mtimeMs: number;
}

/** By absolute, normalised path. */
export type FileMap = ReadonlyMap<string, FileEntry>;

/** A null entry: there is nothing at this path any more. */
export interface FileChange {
  path: string;
  entry: FileEntry | null;
}

export function toStoredFile(bytes: Uint8Array, mtimeMs = Date.now()): StoredFile {
  return { kind: 'file', bytes, mode: 0o644, mtimeMs };
}

/** What makes one map of files into the other. */
export function diffFiles(before: FileMap, after: FileMap): FileChange[] {
  const changes: FileChange[] = [];
  for (const path of before.keys()) if (!after.has(path)) changes.push({ path, entry: null });
  for (const [path, entry] of after) if (before.get(path) !== entry) changes.push({ path, entry });
  return changes;
}

export function changeFiles(files: FileMap, changes: readonly FileChange[]): Map<string, FileEntry> {
  const next = new Map(files);
  for (const { path, entry } of changes) {
    if (entry) next.set(path, entry);
    else next.delete(path);
  }
  return next;
}
