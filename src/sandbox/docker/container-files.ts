// The files of a container. On their way in and out they flow; only what is asked for as a whole is held.
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { MarkedEntry } from '../archive/find-changes.ts';
import { NOTE, watchNotes } from '../archive/left-out.ts';
import { type PlannedEntry, planArchive } from '../archive/plan-archive.ts';
import { type ArchiveEntry, readArchive } from '../archive/read-archive.ts';
import type { FileCaps } from '../file-caps.ts';
import type { OnLeftOut } from '../sandbox.ts';
import { askFiles, type FileRequest } from './ask-files.ts';
import type { Container } from './container.ts';
import { toFrame } from './frames.ts';

export async function writeFileInto(
  container: Container,
  path: string,
  content: string | Uint8Array | Readable,
): Promise<number> {
  const body = content instanceof Readable ? content : Readable.from([content]);
  let bytes = 0;
  try {
    const file = { kind: 'file' as const, path, mode: 0o644, mtimeMs: Date.now(), body };
    await put(container, Readable.from([file]), (count) => {
      bytes += count;
    });
    return bytes;
  } finally {
    body.destroy();
  }
}

/** Null when there is no such file. */
export async function readFileFrom(container: Container, path: string): Promise<Buffer | null> {
  const { content, missing } = await collect(container, { verb: 'get', request: { path } });
  return missing ? null : content;
}

/** Empty when there is no such file. */
export function streamFileFrom(container: Container, path: string) {
  return askFiles(container, { verb: 'get', request: { path } });
}

export async function namesIn(container: Container, folder: string): Promise<string[]> {
  const { content } = await collect(container, { verb: 'names', request: { folder } });
  return z.array(z.string()).parse(JSON.parse(content.toString())).sort();
}

export async function* archiveOf(
  container: Container,
  folders: readonly string[],
  { maxBytes, onLeftOut }: { maxBytes: number; onLeftOut: OnLeftOut | undefined },
) {
  const { entries, leftOut } = planArchive(await measureFiles(container, folders), maxBytes);
  onLeftOut?.(leftOut);
  yield* packFiles(container, entries);
}

export async function measureFiles(container: Container, folders: readonly string[]): Promise<MarkedEntry[]> {
  const { content } = await collect(container, { verb: 'measure', request: { folders, note: NOTE } });
  return measuredSchema.parse(JSON.parse(content.toString()));
}

export function packFiles(container: Container, entries: readonly PlannedEntry[]) {
  return askFiles(container, { verb: 'pack', request: { entries } });
}

/** All of it or nothing. Answers what had been left out. */
export async function restoreInto(
  container: Container,
  archive: Readable,
  caps: FileCaps,
): Promise<string[]> {
  const leftOut: string[] = [];
  try {
    await put(container, watchNotes(readArchive(archive, caps), leftOut));
    return leftOut;
  } finally {
    archive.destroy();
  }
}

const measuredSchema = z.array(
  z.object({
    path: z.string(),
    kind: z.enum(['file', 'folder']),
    bytes: z.number(),
    text: z.string().optional(),
    print: z.string(),
  }),
);

async function put(
  container: Container,
  entries: AsyncIterable<ArchiveEntry>,
  onBytes: (count: number) => void = () => undefined,
): Promise<void> {
  await collect(container, { verb: 'put', request: {}, input: toFrames(entries, onBytes) });
}

const END = toFrame('');

async function* toFrames(entries: AsyncIterable<ArchiveEntry>, onBytes: (count: number) => void) {
  for await (const entry of entries) {
    const { body, ...header } = entry.kind === 'file' ? entry : { ...entry, body: null };
    yield toFrame(JSON.stringify(header));
    if (!body) continue;
    for await (const chunk of body) {
      const frame = toFrame(chunk);
      // An empty one would be the end.
      if (frame.length === END.length) continue;
      onBytes(frame.length - END.length);
      yield frame;
    }
    yield END;
  }
  yield END;
}

async function collect(
  container: Container,
  request: FileRequest,
): Promise<{ content: Buffer; missing: boolean }> {
  const chunks: Buffer[] = [];
  const asking = askFiles(container, request);
  while (true) {
    const next = await asking.next();
    if (next.done) return { content: Buffer.concat(chunks), ...next.value };
    chunks.push(next.value);
  }
}
