import { stripVTControlCharacters } from 'node:util';

/**
 * Without what a terminal would obey instead of showing it: escape sequences, other control characters, and the
 * marks that turn the direction of writing. Line ends and tabs stay.
 */
export function toPrintable(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '');
}
