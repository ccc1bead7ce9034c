import type { Readable } from 'node:stream';

const MARK = '{"result":';

/** A log of Tekton Results: newer ones are plain text, older ones lines of JSON with base64 in them. */
export async function* decodeLogChunks(body: Readable): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  while (start.length < MARK.length) {
    const next = await chunks.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  const rest = remaining(start, chunks);
  try {
    if (start.toString('latin1', 0, MARK.length) === MARK) yield* fromLines(rest);
    else yield* rest;
  } finally {
    body.destroy();
  }
}

async function* remaining(start: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (start.length > 0) yield start;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
}

async function* fromLines(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const line: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    for (const part of splitAfterLines(chunk)) {
      line.push(part);
      bytes += part.length;
      const isEnded = part.at(-1) === LINE_END;
      // A line without an end must not fill the memory: it is passed on as it is.
      if (bytes > MAX_LINE_BYTES) yield* line.splice(0);
      else if (isEnded) yield fromLine(Buffer.concat(line.splice(0)));
      if (isEnded) bytes = 0;
    }
  }
  if (line.length > 0) yield fromLine(Buffer.concat(line));
}

const LINE_END = 0x0a;
/** Well above the 4 MB that a message of gRPC, of which a line is made, may have. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

function* splitAfterLines(chunk: Buffer): Generator<Buffer> {
  let at = 0;
  while (at < chunk.length) {
    const end = chunk.indexOf(LINE_END, at);
    const next = end === -1 ? chunk.length : end + 1;
    yield chunk.subarray(at, next);
    at = next;
  }
}

function fromLine(line: Buffer): Buffer {
  const data = /"data"\s*:\s*"([A-Za-z0-9+/=_-]*)"/.exec(line.toString('latin1'))?.[1];
  return data === undefined ? line : Buffer.from(data, 'base64');
}
