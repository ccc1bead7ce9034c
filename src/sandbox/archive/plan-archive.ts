import { posix } from 'node:path';
import type { LeftOutFile } from '../sandbox.ts';
import { type NotedFiles, nameOf, readNote, toNote, toNoteForMany } from './left-out.ts';

/** What lies in the sandbox, as it was measured. */
export interface MeasuredEntry {
  path: string;
  kind: 'file' | 'folder';
  bytes: number;
  /** Of what may be a note by its name and size. */
  text?: string | undefined;
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

/**
 * What goes into the archive: all, or as much as has room without the largest files, each replaced by a note. Where
 * so many are left out that their notes have no room either, one note tells their number.
 */
export function planArchive(measured: readonly MeasuredEntry[], maxBytes: number): ArchivePlan {
  const paths = new Set(measured.map(({ path }) => path));
  const files: MeasuredEntry[] = [];
  const notes: OldNote[] = [];
  for (const entry of measured) {
    const noted = entry.text === undefined ? null : readNote({ path: entry.path, text: entry.text });
    if (!noted) files.push(entry);
    // Of a file that is there again no note is needed.
    else if (noted.kind === 'many' || !paths.has(noted.path)) notes.push({ ...entry, noted });
  }
  return planWithNotes({ files, notes, paths }, maxBytes) ?? planWithOneNote({ files, notes }, maxBytes);
}

type OldNote = MeasuredEntry & { noted: NotedFiles };

interface Found {
  files: readonly MeasuredEntry[];
  /** From an earlier archive. */
  notes: readonly OldNote[];
}

/** Null when that is too much. */
function planWithNotes(
  { files, notes, paths }: Found & { paths: ReadonlySet<string> },
  maxBytes: number,
): ArchivePlan | null {
  let total = sizeOf([...files, ...notes]);
  const entries = new Map<string, PlannedEntry>([...files, ...notes].map(({ path }) => [path, { path }]));
  const leftOut: LeftOutFile[] = notes.map(({ noted }) => ({ path: nameOf(noted), bytes: null }));
  for (const { path, bytes } of largestFirst(files)) {
    if (total <= maxBytes) break;
    const note = toNote(path, bytes);
    const saved = bytes - Buffer.byteLength(note.text);
    if (saved <= 0 || paths.has(note.path)) continue;
    entries.set(path, note);
    leftOut.push({ path, bytes });
    total -= saved;
  }
  if (total > maxBytes) return null;
  return { entries: [...entries.values()], leftOut: leftOut.toSorted(byPath) };
}

/** Only this one note may be too much. */
function planWithOneNote({ files, notes }: Found, maxBytes: number): ArchivePlan {
  const earlier = notes.reduce((sum, { noted }) => sum + (noted.kind === 'many' ? noted.count : 1), 0);
  const { path: first = '', kind } = files.toSorted(byPath)[0] ?? {};
  const folder = kind === 'folder' ? first : posix.dirname(first);
  // With the largest number it can tell, so that its size is known before.
  const largest = toNoteForMany(folder, earlier + files.length);
  const kept = new Set(files.filter(({ path }) => path !== largest.path));
  let total = sizeOf([...kept]) + Buffer.byteLength(largest.text);
  for (const file of largestFirst([...kept])) {
    if (total <= maxBytes || file.bytes === 0) break;
    kept.delete(file);
    total -= file.bytes;
  }
  const count = earlier + files.length - kept.size;
  const entries = [...kept].map(({ path }) => ({ path }));
  return {
    entries: [...entries, toNoteForMany(folder, count)],
    leftOut: [{ path: nameOf({ kind: 'many', count }), bytes: null }],
  };
}

function sizeOf(entries: readonly MeasuredEntry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

function largestFirst(entries: readonly MeasuredEntry[]): MeasuredEntry[] {
  return entries.toSorted((a, b) => b.bytes - a.bytes);
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}
