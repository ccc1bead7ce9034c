/** Free of what GitLab would refuse or store differently: half characters, control characters, `\r`. */
export function toPlainLines(text: string): string {
  return toVisible(text.toWellFormed().replaceAll(COLOUR, ''))
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?![\n\t])\p{Cc}/gu, '')
    .trimEnd();
}

// From a string, since control characters in a pattern are taken for a mistake elsewhere.
const ESCAPE = '\u001b';
const COLOUR = new RegExp(`${ESCAPE}\\[[\\d;]*[A-Za-z]`, 'g');

/**
 * The text as it is seen: without characters that are not, which hide words from people or turn them around. What
 * writing needs stays: joiners within emoji and within scripts that have them, signs of Arabic numbers, one variation
 * of a sign.
 */
function toVisible(text: string): string {
  return text
    .replaceAll(/[\u2028\u2029\u0085]/g, '\n')
    .replaceAll(HIDDEN, '')
    .replaceAll(STRAY_JOINER, '')
    .replaceAll(STRAY_VARIATION, '');
}

/** Directions, widthless blanks, tags, invisible operators, fillers, annotations; but for those looked at below. */
const HIDDEN =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f]|[\u180b-\u180d]|[\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;
const JOINED = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f\\p{M}';
const JOINING =
  '\\p{sc=Arab}\\p{sc=Deva}\\p{sc=Beng}\\p{sc=Taml}\\p{sc=Telu}\\p{sc=Knda}\\p{sc=Mlym}\\p{sc=Sinh}\\p{sc=Khmr}\\p{sc=Syrc}\\p{sc=Mong}';
const STRAY_JOINER = new RegExp(
  `(?<![${JOINED}${JOINING}])[\\u200c\\u200d]|[\\u200c\\u200d](?![\\p{Extended_Pictographic}${JOINING}])`,
  'gu',
);
const STRAY_VARIATION =
  /[\ufe00-\ufe0d\u180b-\u180d\u{e0100}-\u{e01ef}]|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]|(?<![\p{Emoji}\p{S}\p{P}])[\ufe0e\ufe0f]/gu;
