import { posix } from 'node:path';
import type { InMemoryFs } from 'just-bash';
import type { FileEntry, FileMap } from './file-entry.ts';
import type { FsWatcher } from './metered-fs.ts';
import { createPace } from './pace.ts';
import { findChanges, isKept, isReachable, isSame, readEntry } from './shell-files.ts';
import type { ReportedChange, ShellMessage } from './shell-message.ts';

/**
 * Tells of each change before the command goes on, since no timer would run once a loop keeps the process busy.
 * Only of a rapid series it tells in batches, each a few milliseconds long.
 */
export interface ChangeReport extends FsWatcher {
  /**
   * Tells of what was not seen changing: folders that came with their files. Answers the files as they are
   * now; null when there was no room for them.
   */
  finish(): Promise<FileMap | null>;
}

/** `send` is done when the message has left this process. */
export function createChangeReport(
  fs: InMemoryFs,
  files: FileMap,
  send: (message: ShellMessage) => Promise<void>,
): ChangeReport {
  const told = new Map(files);
  const mayTell = createPace({ burst: 100, perMs: 0.5 });
  let full = false;
  let queued: ReportedChange[] = [];
  let queuedBytes = 0;
  let waiting = false;

  /** Without a pause until the changes are in line: what is told must be what the other side will have. */
  async function tell(found: readonly Found[]): Promise<void> {
    for (const { path, entry, base } of found) {
      if (full || isSame(entry, told.get(path))) continue;
      const reported = toReported(entry, base, told.get(base));
      queued.push({ path, entry: reported });
      queuedBytes += bytesOf(reported);
      if (entry) told.set(path, entry);
      else told.delete(path);
    }
    if (queued.length === 0) return;
    if (queuedBytes > MAX_QUEUED_BYTES || mayTell()) await flush();
    else void flushSoon();
  }

  function isInKnownFolder(path: string): boolean {
    return told.get(posix.dirname(path))?.kind === 'folder';
  }

  async function flush(): Promise<void> {
    const changes = queued;
    queued = [];
    queuedBytes = 0;
    if (changes.length > 0) await send({ kind: 'changed', changes });
  }

  /** Between the steps of the command, which leave no room for a timer. */
  async function flushSoon(): Promise<void> {
    if (waiting) return;
    waiting = true;
    while (queued.length > 0 && !mayTell()) await null;
    waiting = false;
    await flush();
  }

  return {
    async changed(...paths) {
      const found: Found[] = [];
      for (const { path, base = path } of paths) {
        if (!isKept(path) || !(isInKnownFolder(path) || (await isReachable(fs, path)))) continue;
        found.push({ path, base, entry: await readEntry(fs, path) });
      }
      await tell(found);
    },
    async ranOutOfRoom() {
      if (full) return;
      full = true;
      await send({ kind: 'full' });
    },
    async finish() {
      if (full) return null;
      const left = await findChanges(fs, told);
      await tell(left.map((change) => ({ ...change, base: change.path })));
      await flush();
      return told;
    },
  };
}

interface Found {
  path: string;
  entry: FileEntry | null;
  /** Where the bytes may have come from. */
  base: string;
}

/** What is there already does not travel: a line more in a large log is a line. */
function toReported(
  entry: FileEntry | null,
  base: string,
  known: FileEntry | undefined,
): ReportedChange['entry'] {
  if (entry?.kind !== 'file' || known?.kind !== 'file' || !beginsWith(entry.bytes, known.bytes)) return entry;
  const { bytes, mode, mtimeMs } = entry;
  return { kind: 'grown', base, more: bytes.subarray(known.bytes.byteLength), mode, mtimeMs };
}

function beginsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  const { byteLength } = start;
  if (byteLength === 0 || byteLength > bytes.byteLength) return false;
  return bytes === start || Buffer.from(bytes.buffer, bytes.byteOffset, byteLength).equals(start);
}

function bytesOf(entry: ReportedChange['entry']): number {
  if (entry?.kind === 'grown') return entry.more.byteLength;
  return entry?.kind === 'file' ? entry.bytes.byteLength : 0;
}

/** Of so much the system takes all at once; more might wait for a pause that never comes. */
const MAX_QUEUED_BYTES = 32 * 1024;
