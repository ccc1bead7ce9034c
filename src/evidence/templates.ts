/**
 * What stays of a line when its numbers, ids and times are left out: lines of the same kind have the same.
 * Nothing is not the same as something: `0 failed` stays apart from `3 failed`, and so do the status codes of HTTP.
 */
export function templateOf(text: string): number {
  let hash = 0;
  let word = 0;
  let hasDigit = false;
  let length = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 32;
    const isDigit = code >= 48 && code <= 57;
    if (isDigit || (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code > 127) {
      hasDigit ||= isDigit;
      word = (Math.imul(word, 31) + code) | 0;
      length += 1;
      continue;
    }
    hash =
      (Math.imul(hash, 16777619) ^
        (hasDigit && word !== ZERO && !isStatus(text, at - length, length) ? 35 : word)) |
      0;
    if (code !== 32 && code !== 9) hash = (Math.imul(hash, 16777619) ^ code) | 0;
    word = 0;
    hasDigit = false;
    length = 0;
  }
  return hash;
}

/** Of the word `0`. */
const ZERO = 48;

/** 400 to 599, as servers answer. */
function isStatus(text: string, start: number, length: number): boolean {
  const first = text.charCodeAt(start);
  return length === 3 && (first === 52 || first === 53) && /^\d{3}$/.test(text.slice(start, start + 3));
}

/**
 * What kind of message a line is, whatever it is about: only its plain words count, not names, paths or quotes.
 * Two lines may be of the same kind and have other templates.
 */
export function kindOf(text: string): number {
  let hash = 7;
  let word = 0;
  let isPlain = true;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 32;
    if (code !== 32 && code !== 9) {
      isPlain &&= isPlainCharacter(code);
      word = (Math.imul(word, 31) + code) | 0;
      continue;
    }
    if (word !== 0) hash = (Math.imul(hash, 16777619) ^ (isPlain ? word : 35)) | 0;
    word = 0;
    isPlain = true;
  }
  return hash;
}

/** Letters, and the marks that stand at the end of words. */
function isPlainCharacter(code: number): boolean {
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 44 || code === 58 || code === 33
  );
}
