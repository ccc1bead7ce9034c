/** A piece of what a process in the container has written. */
export interface Output {
  stream: 'stdout' | 'stderr';
  bytes: Buffer;
}

const HEADER_BYTES = 8;

/**
 * Takes apart what the engine sends on one connection: eight bytes that tell the stream and the length, then so many
 * bytes of it. Nothing is put together, so a long piece comes in the parts in which it was read.
 */
export async function* readOutput(connection: AsyncIterable<Buffer>): AsyncGenerator<Output> {
  let header = Buffer.alloc(0);
  let stream: Output['stream'] = 'stdout';
  let left = 0;
  for await (let chunk of connection) {
    while (chunk.length > 0) {
      if (left > 0) {
        const bytes = chunk.subarray(0, left);
        yield { stream, bytes };
        left -= bytes.length;
        chunk = chunk.subarray(bytes.length);
        continue;
      }
      const missing = HEADER_BYTES - header.length;
      header = Buffer.concat([header, chunk.subarray(0, missing)]);
      chunk = chunk.subarray(missing);
      if (header.length < HEADER_BYTES) continue;
      stream = header[0] === 2 ? 'stderr' : 'stdout';
      left = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
  }
}

/** Four bytes of length, then the content, as it is read inside. */
export function toFrame(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Says that what was sent is not the whole, and shall not count. */
export const BROKEN_OFF = Buffer.alloc(4, 0xff);
