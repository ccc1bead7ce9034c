// What is too long for the conversation goes to a file, and the model gets the lines of a log that matter, the shape of
// JSON, the name of what is no text, or head and tail.
import type { Readable } from 'node:stream';
import { type Sandbox, SandboxFullError } from '../sandbox/sandbox.ts';
import { type AnswerOrigin, createAnswerHash, type OnAnswerFile } from './answer-files.ts';
import { type BinaryKind, findBinaryKind, SNIFFED_BYTES } from './binary-kind.ts';
import { createExcerpt, type Excerpt } from './excerpt.ts';
import { toJsonShape } from './json-shape.ts';
import { toJsonText } from './json-text.ts';
import { OUT_FOLDER } from './kept-path.ts';
import type { ToolLimits } from './limits.ts';
import type { LogPreview } from './log-preview.ts';
import { createNumbering } from './numbering.ts';
import type { OpenPreview } from './source-reader.ts';
import { watchChunks } from './watch-chunks.ts';

export type Kept =
  | { kind: 'whole'; text: string }
  /** Without a path it could not be kept; the preview says why. */
  | { kind: 'preview'; preview: string; bytes: number; path?: string };

export interface Spill {
  /** A file for what may be kept; given in the order of the calls, so that which of them ends first does not show. */
  reserve(): Promise<string>;
  /** What a command has printed. */
  keepText(text: string): Promise<Kept>;
  /** However small it is. */
  keepJson(value: unknown, file: SpillFile): Promise<Kept>;
  /** At the stream's pace, without holding it in memory. Throws `SandboxFullError`: nothing is left then. */
  keepStream(stream: Streamed, file: SpillFile): Promise<Kept>;
}

/** Where an answer may go, whose it is, and who hears when it went there. */
export interface SpillFile extends Pick<AnswerOrigin, 'tool' | 'args'> {
  path: Promise<string>;
  onAnswerFile: OnAnswerFile;
}

export interface Streamed {
  body: Readable;
  /** Null for what is no log. */
  openPreview: OpenPreview | null;
}

export function createSpill(sandbox: Sandbox, { maxInlineBytes }: ToolLimits): Spill {
  const numbering = createNumbering(sandbox, OUT_FOLDER, /^(\d+)\.txt/);
  const reserve = (): Promise<string> => {
    const file = numbering.next().then((number) => `${OUT_FOLDER}/${number}.txt`);
    // Only whoever needs the file has to hear that there is none.
    file.catch(() => undefined);
    return file;
  };

  async function keep(
    text: string,
    file: Promise<string>,
    toPreview: (where: string) => string,
  ): Promise<Kept> {
    const path = await file;
    const content = Buffer.from(text);
    const kept = { kind: 'preview' as const, bytes: content.length };
    try {
      await sandbox.writeFile(path, content);
    } catch (error) {
      if (!(error instanceof SandboxFullError)) throw error;
      return { ...kept, preview: toPreview(LOST) };
    }
    return { ...kept, preview: toPreview(`all is in ${path}`), path };
  }

  return {
    reserve,

    async keepText(printed) {
      const binary = findBinaryKind(printed);
      const text = printed.replaceAll('\0', NUL_SIGN);
      const note = printed.includes('\0') ? NUL_NOTE : '';
      const bytes = Buffer.from(text);
      if (binary) return { kind: 'preview', preview: toSpoiledNote(binary), bytes: bytes.length };
      if (bytes.length <= maxInlineBytes) return { kind: 'whole', text: note + text };
      const excerpt = createExcerpt(maxInlineBytes);
      excerpt.add(bytes);
      return keep(text, reserve(), (where) => note + excerpt.toText(where));
    },

    async keepJson(value, { path, tool, args, onAnswerFile }) {
      const text = toJsonText(value);
      const kept = await keep(text, path, (where) => {
        const title = `[shape of the JSON, ${where}]\n`;
        return title + toJsonShape(value, maxInlineBytes - Buffer.byteLength(title));
      });
      const hash = createAnswerHash();
      hash.add(Buffer.from(text));
      if (kept.kind === 'preview' && kept.path !== undefined)
        onAnswerFile(hash.toFile(kept.path, { tool, args, kind: 'json' }));
      return kept;
    },

    async keepStream({ body, openPreview }, file) {
      let preview: LogPreview | null = null;
      try {
        const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
        const start = await readStart(chunks, Math.max(maxInlineBytes, SNIFFED_BYTES));
        // A stray byte makes no log a binary.
        const binary = openPreview ? null : findBinaryKind(start.bytes);
        const isSmall = start.isWhole && start.bytes.length <= maxInlineBytes;
        if (isSmall && !binary) return { kind: 'whole', text: start.bytes.toString() };
        preview = openPreview?.(maxInlineBytes) ?? toPreview(createExcerpt(maxInlineBytes));
        const path = await file.path;
        const whole = withStart(start.bytes, chunks);
        const hash = createAnswerHash();
        const bytes = await sandbox.writeFile(path, watchChunks(whole, preview, hash));
        const { tool, args, onAnswerFile } = file;
        onAnswerFile(hash.toFile(path, { tool, args, kind: openPreview ? 'log' : 'text' }));
        const where = `all is in ${path}`;
        const shown = binary ? toBinaryNote(binary, bytes, where) : await preview.toText(where);
        return { kind: 'preview', preview: shown, bytes, path };
      } finally {
        preview?.close();
        body.destroy();
      }
    },
  };
}

function toPreview(excerpt: Excerpt): LogPreview {
  return { add: excerpt.add, toText: async (where) => excerpt.toText(where), close: () => undefined };
}

/** Neither a model nor grep can do much with the byte itself. */
const NUL_SIGN = '␀';
const NUL_NOTE = `[${NUL_SIGN} stands for each NUL that was printed]\n`;

const LOST = 'the rest is lost, because the sandbox is full: remove files, or ask for less';

function toBinaryNote({ name, readers }: BinaryKind, bytes: number, where: string): string {
  return `[binary: ${name}, ${bytes} bytes; ${where}: use ${readers} on it]`;
}

/** What a command prints is made text on its way, and of bytes that are none something else. */
function toSpoiledNote({ name, readers }: BinaryKind): string {
  const advice = `let the command write to a file below ${OUT_FOLDER} and use ${readers} on that`;
  return `[binary: ${name}; not kept, since printing spoils it: ${advice}]`;
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

async function* withStart(start: Buffer, rest: AsyncIterator<Buffer>) {
  yield start;
  yield* { [Symbol.asyncIterator]: () => rest };
}
