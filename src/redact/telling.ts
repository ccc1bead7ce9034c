// Which names tell of a secret, and which values look like one.

const CORE = [
  'passw(?:or)?d',
  'passwort',
  'passphrase',
  'passcode',
  '(?<=[_-])pass',
  '(?<=[_-])pwd',
  '(?<![a-z])pwd',
  // Behind a colour or an escaped line end.
  '(?<=\\[[\\d;]{0,16}m|\\\\[nrt])pwd',
  'secret',
  'token',
  // Of keys only those that open something: a cache has keys as well.
  '(?<=(?:api|access|private|secret|signing|encryption|decryption|master|account|shared|storage|deploy|service|admin|client|auth|session|license|webhook|app)[_-]?)key',
];
const SUFFIX =
  '(?:[_-]?(?:value|key|access[_-]?key|key[_-]?base|base64|b64|plain|prod|production|staging|dev|\\d{1,3}))?';

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

/** There are packages with telling names: `"one-time-password": "^1.2.3"`. */
const VERSION =
  /^[~^<>=v]{0,3}\d{1,3}\.\d{1,3}(?:(?:\.\d{1,3}){1,2}(?:[-+.~_](?:\d{1,14}(?:[a-z]{2,8}\d{1,3})?|[A-Z]?[a-z]{1,12}\d{0,4}(?:[a-z]\d{1,2})?|[A-Z]{1,12}|g?[\da-f]{7,12})){0,4})?$/;

/** `PublicKeyToken` is in the name of every assembly of .NET. */
const PUBLIC = /public[_-]?key[_-]?token$/i;

export function isTellingName(name: string): boolean {
  return WHOLE_NAME.test(name);
}

/** Of a value after a telling name: not what stands for one, nor code, nor a word. */
export function looksSecret(name: string, value: string): boolean {
  const isMeant = mayBeSecret(name, seeSorts(value)) && isAsSecret(name, value);
  return isMeant && !PUBLIC.test(name) && !isPlaceholder(value) && !isCode(value) && !VERSION.test(value);
}

function isAsSecret(name: string, value: string): boolean {
  if (PASSWORD.test(name)) return value.length >= 6 && !isPath(value);
  if (STRONG.test(name)) return value.length >= 8 && !isWords(value);
  return value.length >= 10 && looksRandom(value) && !isPath(value) && !NAME_OF_SECRET.test(value);
}

/** `default-token-x7k2d`: what Kubernetes calls a secret, with five characters of chance at its end. */
const NAME_OF_SECRET = /^(?:[a-z]+\d{0,2}-){1,8}(?:token|dockercfg|secret)-[bcdfghjklmnpqrstvwxz2456789]{5}$/;

const PASSWORD = /pass|pwd/i;

/** Given the sorts of its characters, which tells most values from secrets; see `SORTS`. */
export function mayBeSecret(name: string, seen: number): boolean {
  const hasLetter = (seen & (LOWER | UPPER)) !== 0;
  const hasDigit = (seen & DIGIT) !== 0;
  if (!PASSWORD.test(name)) return hasDigit && hasLetter;
  return hasDigit || (hasLetter && (seen & SIGN) !== 0);
}

const [LOWER, UPPER, DIGIT, SIGN] = [1, 2, 4, 8] as const;
/** Of characters, each a bit. */
export const SORTS: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  if (/\d/.test(character)) return DIGIT;
  return /[\w./:\s-]/.test(character) ? 0 : SIGN;
});

function sortAt(text: string, at: number): number {
  return SORTS[text.charCodeAt(at)] ?? SIGN;
}

function seeSorts(text: string): number {
  let seen = 0;
  for (let at = 0; at < text.length; at += 1) seen |= sortAt(text, at);
  return seen;
}

/** `$TOKEN`, `${TOKEN}`, `%TOKEN%`, `{{ token }}`, `<token>`, `***`, `[MASKED]`, `xxxx`, `@file`. */
export function isPlaceholder(value: string): boolean {
  return (
    /^(?:[$[<{@#]|%\w+%)|[<>]/.test(value) ||
    value.includes('***') ||
    value.includes('...') ||
    isOneCharacter(value) ||
    /redacted|masked/i.test(value)
  );
}

function isOneCharacter(value: string): boolean {
  const [first = ''] = value;
  return first === '' || /^x+$/i.test(value) || (value[1] === first && value === first.repeat(value.length));
}

function isCode(value: string): boolean {
  return /^[A-Za-z_][\w.:?]*[([]|^[a-z_]\w*(?:\.[a-z_]\w*)+$|^(?:sha\d+|md5)[:-]|=>|\(\)/i.test(value);
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
  return countChanges(text) / text.length >= MIN_CHANGES && bitsPerCharacter(text) >= MIN_BITS;
}

/** From a small letter to a capital, and between letters and digits. */
function countChanges(text: string): number {
  let changes = 0;
  let last = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sort = sortAt(text, at) & ~SIGN;
    if (last !== sort && last !== 0 && sort !== 0 && !(last === UPPER && sort === LOWER)) changes += 1;
    last = sort;
  }
  return changes;
}

function bitsPerCharacter(text: string): number {
  const counts = new Uint16Array(256);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at) & 0xff;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
