// What is read of an answer, and not more: the bytes are counted after they were unpacked.
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { PermanentError } from '../errors.ts';

interface Packed {
  headers: Record<string, string>;
  body: Readable;
}

/** The whole body; one that is larger is an error. */
export async function readBytes(
  answer: Packed,
  maxBytes: number,
  what: string,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of unpack(answer, what)) {
    size += chunk.length;
    if (size > maxBytes)
      throw new PermanentError(`${what} was answered with more than ${maxBytes} bytes; ask for less`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body at its reader's pace; one that is larger ends with a line that says so. */
export function cutBody(answer: Packed, maxBytes: number, what: string): Readable {
  const source = unpack(answer, what);
  return Readable.from(cut(source, maxBytes), { objectMode: false });
}

async function* cut(source: Readable, maxBytes: number) {
  let left = maxBytes;
  for await (const chunk of source) {
    if (chunk.length > left) {
      const kept = chunk.subarray(0, left);
      // Not within a line, if that is possible: half a secret is not known as one.
      yield kept.subarray(0, kept.lastIndexOf('\n') + 1 || left);
      yield Buffer.from(`\n[reading stopped here, after ${maxBytes} bytes; there is more]\n`);
      return;
    }
    left -= chunk.length;
    yield chunk;
  }
}

/** We ask for plain bytes; some servers send packed ones all the same. */
function unpack(answer: Packed, what: string): Readable {
  // Whoever reads hears of a failure from the stream itself; one that nobody reads must not end the process.
  answer.body.on('error', () => undefined);
  const encoding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return answer.body;
  const create = UNPACKERS.get(encoding);
  if (!create) {
    answer.body.destroy();
    throw new PermanentError(`${what} was answered in the unknown encoding ${JSON.stringify(encoding)}`);
  }
  return pipeline(answer.body, create(), () => undefined);
}

const UNPACKERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);
