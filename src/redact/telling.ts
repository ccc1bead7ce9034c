// Which names tell of a secret, and which values look like one.

const CORE = [
  'passw(?:or)?d',
  'passwort',
  'passphrase',
  'passcode',
  '(?<=[_-])pass',
  '(?<=[_-])pwd',
  '(?<![a-z])pwd',
  'secret',
  'token',
  // Of keys only those that open something: a cache has keys as well.
  '(?<=(?:api|access|private|secret|signing|encryption|decryption|master|account|shared|storage|deploy|service|admin|client|auth|session|license|webhook)[_-]?)key',
];
const SUFFIX = '(?:[_-]?(?:value|key|access[_-]?key|base64|b64|plain|\\d{1,3}))?';

/** From a place in the name on, to its end. */
export const TELLING_NAME = `(?:${CORE.join('|')})${SUFFIX}`;
/** The beginning of each, or what it ends with and the character before; see `TELLING_NAME`. */
export const TELLING_WORDS = [
  'passw',
  'passphr',
  'passco',
  ...Array.from('_-', (sign) => `${sign}pass`),
  ...Array.from('=:"\'', (sign) => `pwd${sign}`),
  'secret',
  'token',
  ...Array.from('_-isetgrndhyk', (before) => `${before}key`),
];

const WHOLE_NAME = new RegExp(`${TELLING_NAME}$`, 'i');
/** After these a value need not look like chance, nor after passwords, which people choose. */
const STRONG =
  /(?:(?:private|job|deploy|access|refresh|auth|bearer|gitlab)[_-]?token|api[_-]?key|(?:client|app)[_-]?secret|secret[_-]?(?:access[_-]?)?key)/i;

/** `PublicKeyToken` is in the name of every assembly of .NET. */
const PUBLIC = /public[_-]?key[_-]?token$/i;

export function isTellingName(name: string): boolean {
  return WHOLE_NAME.test(name);
}

/** Of a value after a telling name: not what stands for one, nor code, nor a word. */
export function looksSecret(name: string, value: string): boolean {
  if (PUBLIC.test(name) || isPlaceholder(value) || isCode(value)) return false;
  const hasLetter = /[A-Za-z]/.test(value);
  const hasDigit = /\d/.test(value);
  if (/pass|pwd/i.test(name)) {
    const hasSign = hasLetter && /[^\w./:\s-]/.test(value);
    return value.length >= 6 && (hasDigit || hasSign) && !isPath(value);
  }
  if (STRONG.test(name)) return value.length >= 8 && hasLetter && hasDigit && !isWords(value);
  return value.length >= 10 && hasLetter && hasDigit && !isPath(value) && looksRandom(value);
}

/** `$TOKEN`, `${TOKEN}`, `%TOKEN%`, `{{ token }}`, `<token>`, `***`, `[MASKED]`, `xxxx`, `@file`. */
export function isPlaceholder(value: string): boolean {
  return (
    /^(?:[$[<{@#]|%\w+%|.*\*{3}|.*\.{3}|.*[<>])|^(.)\1*$|^x+$/i.test(value) || /redacted|masked/i.test(value)
  );
}

function isCode(value: string): boolean {
  return /^[A-Za-z_][\w.:]*[([]|^[a-z_]\w*(?:\.[a-z_]\w*)+$|^(?:sha\d+|md5)[:-]|=>|\(\)/i.test(value);
}

function isPath(value: string): boolean {
  return /^(?:\.{0,2}\/|~\/|[A-Z]:\\)|:\/\/|^[\w.-]+(?:\/[\w.-]+)+\.\w{1,5}$/i.test(value);
}

/** Several words, of which a digit or two are part. */
function isWords(value: string): boolean {
  return (
    /^[a-z]+\d{0,2}(?:[_.-][a-z]*\d{0,2})+$/i.test(value) && !/[a-z]\d[a-z]|[a-z][A-Z]{2,}[a-z]/.test(value)
  );
}

const MIN_BITS = 2.8;
const MIN_CHANGES = 0.14;
const MAX_JUDGED = 256;

/** Many different characters, and letters, digits and capitals in no order that people would write. */
export function looksRandom(value: string): boolean {
  const text = value.slice(0, MAX_JUDGED);
  const changes = text.match(/(?<=[a-z])[A-Z]|(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]/g)?.length ?? 0;
  return changes / text.length >= MIN_CHANGES && bitsPerCharacter(text) >= MIN_BITS;
}

function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
