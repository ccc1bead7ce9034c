import type { Answer } from './exchange.ts';

const MAX_ERROR_BYTES = 16 * 1024;

/** The start of an error's body; it is read for a person, so a broken one is as good as none. */
export async function readErrorText(answer: { body: AsyncIterable<Uint8Array> | null }): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_ERROR_BYTES) break;
    }
  } catch {
    return '';
  }
  return new TextDecoder().decode(Buffer.concat(chunks)).slice(0, MAX_ERROR_BYTES);
}

export function contentTypeOf(answer: Answer): string {
  return (answer.headers['content-type'] ?? '').split(';', 1).join('').trim().toLowerCase();
}
