import { cutWords } from '../cut-words.ts';

/** The text, or its beginning and how much of it is left out. */
export function cutText(text: string, maxCharacters: number, what: string): string {
  if (text.length <= maxCharacters) return text;
  const kept = cutWords(text, maxCharacters);
  return `${kept}\n[… ${text.length - kept.length} more characters of ${what} are left out]`;
}
