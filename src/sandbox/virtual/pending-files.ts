import type { FileEntry, FileMap } from './file-entry.ts';
import { type GrownFile, type ReportedChange, toOwnBytes, toOwnEntry } from './shell-message.ts';

/** What a running command makes of the files, outside its process: when that is gone, this is still here. */
export interface PendingFiles {
  apply(changes: readonly ReportedChange[]): void;
  /** Nothing of it counts, and nothing that follows. */
  discard(): void;
  /** The files as they are now; null when nothing counts. */
  settle(): FileMap | null;
}

export function createPendingFiles(files: FileMap): PendingFiles {
  let pending: Map<string, FileEntry | FileInParts> | null = new Map(files);

  return {
    apply(changes) {
      for (const { path, entry } of changes) {
        if (!entry) pending?.delete(path);
        else if (entry.kind !== 'grown') pending?.set(path, toOwnEntry(entry));
        else pending?.set(path, grow(pending.get(entry.base), entry));
      }
    },
    discard() {
      pending = null;
    },
    settle: () => pending && new Map(pending.entries().map(([path, entry]) => [path, toWhole(entry)])),
  };
}

/** A log that grows by a line a thousand times is not copied a thousand times. */
interface FileInParts {
  kind: 'parts';
  parts: readonly Uint8Array[];
  mode: number;
  mtimeMs: number;
}

function grow(
  base: FileEntry | FileInParts | undefined,
  { more, mode, mtimeMs, ...told }: GrownFile,
): FileInParts {
  if (base?.kind !== 'file' && base?.kind !== 'parts') throw new Error(`No file to begin with: ${told.base}`);
  const parts = base.kind === 'file' ? [base.bytes] : [...base.parts];
  if (more.byteLength > 0) parts.push(toOwnBytes(more));
  return { kind: 'parts', parts: joinSmall(parts), mode, mtimeMs };
}

/** Each part is longer than the one behind it, so there are few, and a byte is copied few times. */
function joinSmall(parts: readonly Uint8Array[]): readonly Uint8Array[] {
  const [last, before] = [parts.at(-1), parts.at(-2)];
  if (!last || !before || last.byteLength < before.byteLength) return parts;
  return joinSmall([...parts.slice(0, -2), Buffer.concat([before, last])]);
}

function toWhole(entry: FileEntry | FileInParts): FileEntry {
  if (entry.kind !== 'parts') return entry;
  const { parts, mode, mtimeMs } = entry;
  const [only = new Uint8Array(), ...others] = parts;
  return { kind: 'file', bytes: others.length > 0 ? Buffer.concat(parts) : only, mode, mtimeMs };
}
