/** The text, or its beginning and how much of it is left out. */
export function cutText(text: string, maxCharacters: number, what: string): string {
  if (text.length <= maxCharacters) return text;
  // An emoji is two UTF-16 units; half of one is no text.
  const kept = text.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept}\n[… ${text.length - kept.length} more characters of ${what} are left out]`;
}
