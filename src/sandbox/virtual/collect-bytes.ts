import type { Readable } from 'node:stream';

/** Reads all of it. `onBytes` is told of each chunk before it is held, and throws to end the reading. */
export async function collectBytes(
  content: string | Uint8Array | Readable,
  onBytes: (count: number) => void,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of toChunks(content)) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    onBytes(bytes.byteLength);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function toChunks(
  content: string | Uint8Array | Readable,
): Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array> {
  return typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
}
