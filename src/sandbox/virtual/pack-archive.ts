import { randomUUID } from 'node:crypto';
import { pipeline, type Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { MarkedEntry } from '../archive/find-changes.ts';
import { NOTE } from '../archive/left-out.ts';
import type { PlannedEntry } from '../archive/plan-archive.ts';
import type { FileMap } from './file-entry.ts';
import { toSandboxPath } from './sandbox-path.ts';

/** What lies in the folders. Links stay out: an archive with links is refused when it comes back. */
export function measureFiles(files: FileMap, folders: readonly string[]): MarkedEntry[] {
  const roots = folders.map(toSandboxPath);
  return [...files.keys()].sort().flatMap((path): MarkedEntry[] => {
    const entry = files.get(path);
    if (!entry || entry.kind === 'link' || !roots.some((root) => isWithin(path, root))) return [];
    if (entry.kind === 'folder') return [{ path, kind: entry.kind, bytes: 0, print: 'folder' }];
    const bytes = entry.bytes.byteLength;
    const mayBeNote = path.endsWith(NOTE.end) && bytes <= NOTE.maxBytes;
    const text = mayBeNote && { text: String(Buffer.from(entry.bytes)) };
    return [{ path, kind: entry.kind, bytes, print: printOf(entry), ...text }];
  });
}

/** A file that changes is another object. */
function printOf(entry: object): string {
  const known = prints.get(entry) ?? randomUUID();
  prints.set(entry, known);
  return known;
}

const prints = new WeakMap<object, string>();

/** A tar.gz of these entries. */
export function packArchive(files: FileMap, entries: readonly PlannedEntry[]): Readable {
  const tar = pack();
  for (const { path, text } of entries) {
    const name = path.slice(1);
    const entry = files.get(path);
    if (text !== undefined) tar.entry({ name, mode: 0o644 }, text).on('error', ignore);
    else if (entry?.kind === 'folder')
      tar.entry({ name, type: 'directory', mode: 0o755 }).on('error', ignore);
    else if (entry?.kind === 'file') {
      const { bytes, mode, mtimeMs } = entry;
      const header = { name, type: 'file' as const, mode, mtime: new Date(mtimeMs), size: bytes.byteLength };
      tar.entry(header, bytes).on('error', ignore);
    }
  }
  tar.finalize();
  const gzip = createGzip();
  // An error of either ends the other, and whoever reads the result sees it.
  pipeline(tar, gzip, () => undefined);
  return gzip;
}

/** When the archive is given up, each entry that waits for its turn fails; whoever reads the archive hears of it. */
function ignore(): void {}

function isWithin(path: string, root: string): boolean {
  return root === '/' || path === root || path.startsWith(`${root}/`);
}
