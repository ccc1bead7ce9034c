import { PermanentError } from '../errors.ts';
import { contentTypeOf } from '../http/answer.ts';
import { readBytes } from '../http/bounded-body.ts';
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
  const bytes = await readBytes(answer, MAX_BODY_BYTES, what);
  return { body: answer.status === 204 ? null : toBody(bytes, contentType), bytes: bytes.length };
}

function toBody(bytes: Buffer<ArrayBuffer>, contentType: string): unknown {
  if (contentType === 'application/json') return parseJson(new TextDecoder().decode(bytes));
  return contentType.startsWith('text/')
    ? new TextDecoder().decode(bytes)
    : new Blob([bytes], { type: contentType });
}

function parseJson(text: string): unknown {
  try {
    // gitbeaker reads properties of whatever it gets, also where GitLab says null.
    return JSON.parse(text) ?? {};
  } catch (cause) {
    throw new Error('the answer is not whole JSON', { cause });
  }
}
