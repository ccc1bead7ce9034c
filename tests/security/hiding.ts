// How an order is hidden in a text, and how a reader that wants to find it does.

export type Hiding = keyof typeof HIDINGS;

/** Each makes of an order what a person would hardly see, or not take for one. */
export const HIDINGS = {
  none: (text: string) => text,
  ansi: (text: string) => `\u001b[8m${[...text].join('\u001b[0m\u001b[8m')}\u001b[0m`,
  'HTML comment': (text: string) => `<!-- ${text.replaceAll('--', '-\u200b-')} -->`,
  'Unicode tags': (text: string) =>
    [...text].map((sign) => String.fromCodePoint(0xe0000 + sign.charCodeAt(0))).join(''),
  'zero width': (text: string) => [...text].join('\u200b'),
  base64: (text: string) => Buffer.from(text).toString('base64'),
  hexadecimal: (text: string) => Buffer.from(text).toString('hex'),
  rot13: (text: string) => toRot13(text),
  'percent-encoded': (text: string) => encodeURIComponent(text),
  entities: (text: string) => [...text].map((sign) => `&#${sign.charCodeAt(0)};`).join(''),
  homoglyphs: (text: string) => text.replaceAll(/[DOsay]/g, (sign) => LOOKALIKES[sign] ?? sign),
  'wide letters': (text: string) =>
    text.replaceAll(/[A-Za-z]/g, (sign) => String.fromCodePoint(sign.charCodeAt(0) + 0xfee0)),
  spaced: (text: string) => [...text].join(' '),
  backwards: (text: string) => [...text].reverse().join(''),
} satisfies Record<string, (text: string) => string>;

/** The text in every way in which something could be meant by it. */
export function reveal(text: string): string[] {
  const plain = fromLookalikes(
    text
      .replaceAll(ANSI, '')
      .replaceAll(TAGS, (sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xe0000))
      .replaceAll(INVISIBLE, ''),
  ).normalize('NFKC');
  const entities = plain.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
  return [
    plain,
    entities,
    toRot13(plain),
    [...plain].reverse().join(''),
    plain.replaceAll(/(.) /g, '$1'),
    ...findAll(plain, /(?:[\w~!*'().-]|%[\dA-F]{2})*%20(?:[\w~!*'().-]|%[\dA-F]{2})+/g).flatMap(fromPercent),
    ...findAll(plain, /[\w+/-]{24,}={0,2}/g).map((found) => Buffer.from(found, 'base64').toString()),
    ...findAll(plain, /(?:[\da-f]{2}){12,}/g).map((found) => Buffer.from(found, 'hex').toString()),
  ];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what colours begin with.
const ANSI = /\u001b\[[\d;]*m/g;
const TAGS = /[\u{e0020}-\u{e007e}]/gu;
const INVISIBLE = /[\u200b-\u200d\u2060\ufeff]/g;
const LOOKALIKES: Readonly<Record<string, string>> = { O: 'О', s: 'ѕ', a: 'а', y: 'у' };

function fromLookalikes(text: string): string {
  return Object.entries(LOOKALIKES).reduce((rest, [sign, alike]) => rest.replaceAll(alike, sign), text);
}

function toRot13(text: string): string {
  return text.replaceAll(/[a-z]/gi, (sign) => {
    const first = sign <= 'Z' ? 65 : 97;
    return String.fromCharCode(((sign.charCodeAt(0) - first + 13) % 26) + first);
  });
}

function findAll(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([found]) => found);
}

function fromPercent(text: string): string[] {
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}
