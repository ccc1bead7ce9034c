import type { LeftOutFile } from '../sandbox.ts';

/** What lies in the sandbox, as it was measured. */
export interface MeasuredEntry {
  path: string;
  kind: 'file' | 'folder';
  bytes: number;
}

/** Packed as it is, or, with a text, a file made of that. */
export interface PlannedEntry {
  path: string;
  text?: string;
}

export interface ArchivePlan {
  entries: PlannedEntry[];
  /** All files for which there are only notes. */
  leftOut: LeftOutFile[];
}

const LEFT_OUT = '.left-out';

/** What goes into the archive: all, or as much as has room without the largest files, each replaced by a note. */
export function planArchive(measured: readonly MeasuredEntry[], maxBytes: number): ArchivePlan {
  const sizes = new Map(measured.map(({ path, bytes }) => [path, bytes]));
  const current = measured.filter(({ path }) => !isOutdatedNote(path, sizes));
  const largest = findLargest(current, maxBytes);
  const entries = current.map((entry) => (largest.has(entry) ? toNote(entry) : { path: entry.path }));
  const leftOut = findLeftOut(entries.map(({ path }) => path)).sort();
  return { entries, leftOut: leftOut.map((path) => ({ path, bytes: sizes.get(path) ?? null })) };
}

/** The files for which there are only notes. */
export function findLeftOut(paths: Iterable<string>): string[] {
  return [...paths].filter((path) => path.endsWith(LEFT_OUT)).map((path) => path.slice(0, -LEFT_OUT.length));
}

function isOutdatedNote(path: string, sizes: ReadonlyMap<string, number>): boolean {
  return path.endsWith(LEFT_OUT) && sizes.has(path.slice(0, -LEFT_OUT.length));
}

function findLargest(entries: readonly MeasuredEntry[], maxBytes: number): Set<MeasuredEntry> {
  const largestFirst = entries.toSorted((a, b) => b.bytes - a.bytes);
  let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  const found = new Set<MeasuredEntry>();
  for (const entry of largestFirst) {
    if (total <= maxBytes) break;
    found.add(entry);
    total -= entry.bytes;
  }
  return found;
}

function toNote({ path, bytes }: MeasuredEntry): PlannedEntry {
  const text = `${path} had ${bytes} bytes, which is too large to be kept with the session. Fetch it again.\n`;
  return { path: `${path}${LEFT_OUT}`, text };
}
