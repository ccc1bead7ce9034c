// A note stands in an archive for a file that had no room in it, or for many, when not even their notes had.
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import type { ArchiveEntry } from './read-archive.ts';

export interface Note {
  path: string;
  text: string;
}

/** A file with this name may be a note; whether it is one, its text tells: people may use the name as well. */
export const NOTE = { end: '.left-out', maxBytes: 8_192 };

export function toNote(path: string, bytes: number): Note {
  const text = `${path} had ${bytes} bytes, which is too large to be kept with the session. Fetch it again.\n`;
  return { path: `${path}${NOTE.end}`, text };
}

export function toNoteForMany(folder: string, count: number): Note {
  const text = `${count} files had no room in what is kept with the session. Fetch again what you need.\n`;
  return { path: `${folder}/many-files${NOTE.end}`, text };
}

/** What a note stands for. Of many files only the number is known. */
export type NotedFiles = { kind: 'file'; path: string } | { kind: 'many'; count: number };

/** Null for what is no note. */
export function readNote({ path, text }: Note): NotedFiles | null {
  if (!path.endsWith(NOTE.end)) return null;
  const original = path.slice(0, -NOTE.end.length);
  const bytes = Number(/ had (\d+) bytes, /.exec(text.slice(original.length))?.[1]);
  if (text === toNote(original, bytes).text) return { kind: 'file', path: original };
  const count = Number.parseInt(text, 10);
  const isForMany = text === toNoteForMany(posix.dirname(path), count).text;
  return isForMany ? { kind: 'many', count } : null;
}

/** For whoever reads of what was left out: a path, or how many there were. */
export function nameOf(noted: NotedFiles): string {
  return noted.kind === 'file' ? noted.path : `${noted.count} files`;
}

/** The same entries; when they have been read, `leftOut` has the names of what notes among them stand for. */
export async function* watchNotes(
  entries: AsyncIterable<ArchiveEntry>,
  leftOut: string[],
): AsyncGenerator<ArchiveEntry> {
  for await (const entry of entries) {
    if (entry.kind === 'folder' || !entry.path.endsWith(NOTE.end)) {
      yield entry;
      continue;
    }
    const onText = (text: string): void => {
      const noted = readNote({ path: entry.path, text });
      if (noted) leftOut.push(nameOf(noted));
    };
    yield { ...entry, body: Readable.from(watchText(entry.body, onText), { objectMode: false }) };
  }
}

async function* watchText(body: Readable, onText: (text: string) => void) {
  const seen: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes <= NOTE.maxBytes) seen.push(chunk);
    yield chunk;
  }
  if (bytes <= NOTE.maxBytes) onText(Buffer.concat(seen).toString());
}
