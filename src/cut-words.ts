// Where texts are cut before their secrets are taken out.

/** No token is longer. */
const MAX_TOKEN = 1_000;
const BLANK = new RegExp(`\\s\\S{0,${MAX_TOKEN}}$`);
/** Ends a value where there are no blanks, as in JSON of one line. */
const SIGN = new RegExp(`["'\`,;<>(){}[\\]][^\\s"'\`,;<>(){}[\\]]{0,${MAX_TOKEN}}$`);

/** The beginning of a text, without the word that it would end in the midst of: half a secret is not known as one. */
export function cutWords(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // With the next character, which tells whether the last word is whole.
  const head = text.slice(0, maxChars + 1);
  const end = [BLANK, SIGN].map((pattern) => head.search(pattern)).find((at) => at > 0) ?? maxChars;
  // An emoji is two UTF-16 units; half of one is no text.
  return head.slice(0, end).replace(/[\uD800-\uDBFF]$/, '');
}
