import type { Readable } from 'node:stream';
import { watchNotes } from '../archive/left-out.ts';
import { readArchive } from '../archive/read-archive.ts';
import type { FileCaps } from '../file-caps.ts';
import { collectBytes } from './collect-bytes.ts';
import { type FileChange, toStoredFile } from './file-entry.ts';

export interface Unpacked {
  changes: FileChange[];
  /** What had no room in the archive. */
  leftOut: string[];
}

/** Reads a whole archive before any of it counts; throws what `readArchive` does. */
export async function unpackArchive(archive: Readable, caps: FileCaps): Promise<Unpacked> {
  const leftOut: string[] = [];
  const changes = new Map<string, FileChange>();
  for await (const entry of watchNotes(readArchive(archive, caps), leftOut)) {
    const { path } = entry;
    if (entry.kind === 'folder') {
      changes.set(path, { path, entry: { kind: 'folder' } });
      continue;
    }
    const { body, mode, mtimeMs } = entry;
    const file = toStoredFile(await collectBytes(body, () => undefined), mtimeMs);
    changes.set(path, { path, entry: { ...file, mode } });
  }
  return { changes: [...changes.values()], leftOut };
}
