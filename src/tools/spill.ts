// What is too long for the conversation goes to a file, and the model gets its head and tail.
import { Readable } from 'node:stream';
import { type Sandbox, SandboxFullError } from '../sandbox/sandbox.ts';
import { createExcerpt } from './excerpt.ts';
import { OUT_FOLDER } from './kept-path.ts';
import type { ToolLimits } from './limits.ts';
import { createNumbering } from './numbering.ts';

export type Kept =
  | { kind: 'whole'; text: string }
  /** Without a path the sandbox had no room for it; the preview says so. */
  | { kind: 'preview'; preview: string; bytes: number; path?: string };

export interface Spill {
  /** A file for what may be kept; given in the order of the calls, so that which of them ends first does not show. */
  reserve(): Promise<string>;
  keepText(text: string, file?: Promise<string>): Promise<Kept>;
  /** At the stream's pace, without holding it in memory. Throws `SandboxFullError`: nothing is left then. */
  keepStream(body: Readable, file: Promise<string>): Promise<Kept>;
}

export function createSpill(sandbox: Sandbox, { maxInlineBytes }: ToolLimits): Spill {
  const numbering = createNumbering(sandbox, OUT_FOLDER, /^(\d+)\.txt/);
  const reserve = (): Promise<string> => {
    const file = numbering.next().then((number) => `${OUT_FOLDER}/${number}.txt`);
    // Only whoever needs the file has to hear that there is none.
    file.catch(() => undefined);
    return file;
  };

  return {
    reserve,

    async keepText(text, file) {
      const bytes = Buffer.from(text);
      if (bytes.length <= maxInlineBytes) return { kind: 'whole', text };
      const excerpt = createExcerpt(maxInlineBytes);
      excerpt.add(bytes);
      const path = await (file ?? reserve());
      try {
        await sandbox.writeFile(path, bytes);
      } catch (error) {
        if (!(error instanceof SandboxFullError)) throw error;
        const where = 'and lost, because the sandbox is full: remove files, or ask for less';
        return { kind: 'preview', preview: excerpt.toText(where), bytes: bytes.length };
      }
      return { kind: 'preview', preview: excerpt.toText(`all is in ${path}`), bytes: bytes.length, path };
    },

    async keepStream(body, file) {
      try {
        const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
        const start = await readStart(chunks, maxInlineBytes);
        if (start.isWhole) return { kind: 'whole', text: start.bytes.toString() };
        const excerpt = createExcerpt(maxInlineBytes);
        const path = await file;
        const watched = Readable.from(watch(start.bytes, chunks, excerpt), { objectMode: false });
        const bytes = await sandbox.writeFile(path, watched);
        return { kind: 'preview', preview: excerpt.toText(`all is in ${path}`), bytes, path };
      } finally {
        body.destroy();
      }
    },
  };
}

async function readStart(chunks: AsyncIterator<Buffer>, maxBytes: number) {
  const read: Buffer[] = [];
  for (let size = 0; size <= maxBytes; ) {
    const next = await chunks.next();
    if (next.done) return { bytes: Buffer.concat(read), isWhole: true };
    read.push(next.value);
    size += next.value.length;
  }
  return { bytes: Buffer.concat(read), isWhole: false };
}

async function* watch(start: Buffer, rest: AsyncIterator<Buffer>, { add }: { add(chunk: Buffer): void }) {
  add(start);
  yield start;
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    add(next.value);
    yield next.value;
  }
}
