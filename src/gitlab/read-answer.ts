import type { Readable } from 'node:stream';
import { PermanentError } from '../errors.ts';
import { contentTypeOf } from '../http/answer.ts';
import type { Answer } from '../http/exchange.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** The whole body in the form its content type promises, as gitbeaker expects it. */
export async function readAnswer(answer: Answer, what: string): Promise<{ body: unknown; bytes: number }> {
  const contentType = contentTypeOf(answer);
  if (contentType === 'text/html') {
    await answer.body.dump();
    throw new PermanentError(
      `${what} was answered with a web page, not by GitLab's API. Check GitLab's URL in the configuration`,
    );
  }
  const chunks = await readBytes(answer.body, what);
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  return { body: answer.status === 204 ? null : toBody(chunks, contentType), bytes };
}

function toBody(chunks: Buffer<ArrayBuffer>[], contentType: string): unknown {
  if (contentType === 'application/json') return parseJson(toText(chunks));
  return contentType.startsWith('text/') ? toText(chunks) : new Blob(chunks, { type: contentType });
}

async function readBytes(body: Readable, what: string): Promise<Buffer<ArrayBuffer>[]> {
  const chunks: Buffer<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      throw new PermanentError(
        `${what} was answered with more than ${MAX_BODY_BYTES} bytes; read it as a stream or ask for less`,
      );
    }
    chunks.push(chunk);
  }
  return chunks;
}

function toText(chunks: Buffer[]): string {
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function parseJson(text: string): unknown {
  try {
    // gitbeaker reads properties of whatever it gets, also where GitLab says null.
    return JSON.parse(text) ?? {};
  } catch (cause) {
    throw new Error('the answer is not whole JSON', { cause });
  }
}
