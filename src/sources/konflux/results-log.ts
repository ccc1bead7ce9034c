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
  let line = '';
  for await (const chunk of chunks) {
    const parts = `${line}${chunk.toString('latin1')}`.split('\n');
    line = parts.pop() ?? '';
    for (const part of parts) yield fromLine(part);
  }
  if (line.trim() !== '') yield fromLine(line);
}

function fromLine(line: string): Buffer {
  const data = /"data"\s*:\s*"([A-Za-z0-9+/=_-]*)"/.exec(line)?.[1];
  return data === undefined ? Buffer.from(`${line}\n`, 'latin1') : Buffer.from(data, 'base64');
}
