/** The beginning and the end of a text that flows by, to be shown when it is too long as a whole. */
export interface Excerpt {
  add(chunk: Buffer): void;
  /** `where` says what became of the rest. */
  toText(where: string): string;
}

// Logs and commands tell at their end what went wrong.
const HEAD_SHARE = 3 / 8;

/** For texts of more than `maxBytes`. */
export function createExcerpt(maxBytes: number): Excerpt {
  const maxHead = Math.floor(maxBytes * HEAD_SHARE);
  const maxTail = maxBytes - maxHead;
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let total = 0;
  return {
    add(chunk) {
      total += chunk.length;
      if (head.length < maxHead) head = Buffer.concat([head, chunk.subarray(0, maxHead - head.length)]);
      // Copied, so that the chunk it was part of can go.
      tail = Buffer.concat([tail, chunk.subarray(-maxTail)]).subarray(-maxTail);
    },
    toText(where) {
      const first = withoutBrokenEnd(head);
      const last = withoutBrokenStart(tail);
      const leftOut = total - first.length - last.length;
      return `${first}\n[… ${leftOut} bytes left out, ${where} …]\n${last}`;
    },
  };
}

// A character has at most three bytes after its first; more of them are not UTF-8 and stay as they are.
const MAX_CONTINUATION = 3;

function withoutBrokenEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(MAX_CONTINUATION + 1, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthOfCharacter(byte) > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}

function withoutBrokenStart(bytes: Buffer): Buffer {
  const start = bytes.subarray(0, MAX_CONTINUATION + 1).findIndex((byte) => !isContinuation(byte));
  return start > 0 ? bytes.subarray(start) : bytes;
}

function isContinuation(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}

function lengthOfCharacter(firstByte: number): number {
  if (firstByte >= 0b1111_0000) return 4;
  if (firstByte >= 0b1110_0000) return 3;
  return firstByte >= 0b1100_0000 ? 2 : 1;
}
