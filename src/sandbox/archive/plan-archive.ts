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

const LEFT_OUT = '.left-out';

/** What goes into the archive: all, or as much as has room without the largest files, each replaced by a note. */
export function planArchive(entries: readonly MeasuredEntry[], maxBytes: number): PlannedEntry[] {
  const paths = new Set(entries.map(({ path }) => path));
  const current = entries.filter(({ path }) => !isOutdatedNote(path, paths));
  const leftOut = findLargest(current, maxBytes);
  return current.map((entry) => (leftOut.has(entry) ? toNote(entry) : { path: entry.path }));
}

/** The files for which there are only notes. */
export function findLeftOut(paths: Iterable<string>): string[] {
  return [...paths].filter((path) => path.endsWith(LEFT_OUT)).map((path) => path.slice(0, -LEFT_OUT.length));
}

function isOutdatedNote(path: string, paths: ReadonlySet<string>): boolean {
  return path.endsWith(LEFT_OUT) && paths.has(path.slice(0, -LEFT_OUT.length));
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
