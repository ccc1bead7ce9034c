import { Readable } from 'node:stream';

/** The same chunks, at the reader's pace; each `add` sees every one before the reader does. */
export function watchChunks(
  chunks: AsyncIterable<Buffer>,
  ...watchers: readonly { add: (chunk: Buffer) => void }[]
): Readable {
  async function* watched() {
    for await (const chunk of chunks) {
      for (const { add } of watchers) add(chunk);
      yield chunk;
    }
  }
  return Readable.from(watched(), { objectMode: false });
}
