import type { Readable } from 'node:stream';
import { PermanentError } from '../errors.ts';
import type { Answer } from './exchange.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 16 * 1024;

/** The whole body in the form its content type promises, as gitbeaker expects it. */
export async function readAnswer(answer: Answer, what: string): Promise<unknown> {
  const contentType = contentTypeOf(answer);
  if (contentType === 'text/html') {
    await answer.body.dump();
    throw new PermanentError(
      `${what} was answered with a web page, not by GitLab's API. Check GitLab's URL in the configuration`,
    );
  }
  const bytes = await readBytes(answer.body, what);
  if (answer.status === 204) return null;
  if (contentType === 'application/json') return parseJson(toText(bytes));
  if (contentType.startsWith('text/')) return toText(bytes);
  return new Blob(bytes, { type: contentType });
}

/** The start of an error's body; it is read for a person, so a broken one is as good as none. */
export async function readErrorText(answer: Answer): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer.body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_ERROR_BYTES) break;
    }
  } catch {
    return '';
  }
  return toText(chunks).slice(0, MAX_ERROR_BYTES);
}

export function contentTypeOf(answer: Answer): string {
  return (answer.headers['content-type'] ?? '').split(';', 1).join('').trim().toLowerCase();
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
