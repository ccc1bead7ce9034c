import { Readable } from 'node:stream';

/** The same chunks, at the reader's pace; `add` sees each before the reader does. */
export function watchChunks(
  chunks: AsyncIterable<Buffer>,
  { add }: { add: (chunk: Buffer) => void },
): Readable {
  async function* watched() {
    for await (const chunk of chunks) {
      add(chunk);
      yield chunk;
    }
  }
  return Readable.from(watched(), { objectMode: false });
}
