/** The beginning of the text that fits into so many bytes of UTF-8, never with half a character at its end. */
export function cutUtf8(text: string, maxBytes: number): { text: string; truncated: boolean } {
  if (text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes) return { text, truncated: false };
  // A character has at least one byte, so no more characters than that are needed.
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return { text: bytes.toString('utf8', 0, end), truncated: true };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
