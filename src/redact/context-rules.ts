// Secrets that are known by what stands around them. Each has a row in tests/unit/redact/rules.test.ts.
import { RUN, type Run } from './bytes.ts';
import { COLOUR, endAt, type Finding, MAX_LOOK_BACK, matchAt, type Rule } from './rule.ts';
import {
  isPlaceholder,
  looksRandom,
  looksSecret,
  mayBeSecret,
  SORTS,
  TELLING_NAME,
  TELLING_WORDS,
} from './telling.ts';
import { STAMP } from './walk-key.ts';

const NAMED = 'named-secret';

/**
 * So much of a value is judged, and the rest of it goes with it: names that stand within values of others, again and
 * again, must not have all of each value read.
 */
const MAX_JUDGED = 128;
/** What ends every value: blanks, control characters, and what was found already. */
const END = '\\x00-\\x20\\xff';
/** Of a value without quotes: the characters of `RUN.value`. */
const UNQUOTED = '[!#$%*+./0-9:=?@A-Z^_a-z|~\\x80-\\xfe-]';
/** Between a name and its value, which are often printed in two colours. */
const GAP = `[ \\t]{0,8}(?:${COLOUR}[ \\t]{0,8}){0,4}`;
const QUOTED = `(?:[^"'\`\\\\\\r\\n\\xff]|\\\\[^\\r\\n\\xff])`;

export const CONTEXT_RULES: readonly Rule[] = [
  {
    kind: 'url-credentials',
    words: Array.from('abcdefghijklmnopqrstuvwxyz0123456789', (character) => `${character}://`),
    find: findUrlCredentials,
  },
  { kind: 'authorization', words: ['authoriza'], find: findAuthorization, run: RUN.header },
  { kind: 'authorization', words: ['bearer'], find: findBearer, run: RUN.bearer },
  { kind: 'cookie', words: ['cookie'], find: findCookie, run: RUN.cookie },
  { kind: 'login', words: ['login'], find: findNetrc, run: RUN.value },
  { kind: 'docker-auth', words: ['"auth"'], find: findDockerAuth },
  { kind: NAMED, words: TELLING_WORDS, find: findNamed, run: RUN.value },
];

const USER = `[^${END}/?#"'\`<>()[\\]{}\\\\,;@:]`;
/** Not the digest of an image, as in `docker://node:24@sha256:…`. */
const HOST = '@(?!sha\\d{3}:)(?=[\\w.[%-])';
/** To the last sign that may end it: there are passwords with `@`. */
const LOGIN = new RegExp(`://(${USER}{0,256}:[^${END}/?#"'\`<>[\\]\\\\]{1,512})${HOST}`, 'y');
const LONE_USER = new RegExp(`://(${USER}{1,256})${HOST}`, 'y');

function findUrlCredentials(text: string, at: number): Finding | null {
  const found = matchAt(LOGIN, text, at + 1) ?? matchAt(LONE_USER, text, at + 1);
  if (!found) return null;
  const start = at + 1 + 3;
  const info = found[0].slice(3, -1);
  const colon = info.indexOf(':');
  const secret = info.slice(colon + 1);
  const isToken = colon !== -1 || (info.length >= 16 && looksRandom(info));
  if (!isToken || secret === '' || isPlaceholder(secret)) return null;
  return { start, end: start + info.length };
}

/** Of several values, as in `Authorization: [Basic …]`. */
const IN_LIST = `(?:\\[\\s{0,20}(?=["'\\\\]{0,4}[A-Za-z][\\w-]{2,20}[ \\t]))?`;
const AUTHORIZATION = new RegExp(
  `authorization["'\\\\\\]]{0,4}${GAP}[:=]${GAP}${IN_LIST}["'\\\\]{0,4}(?:([A-Za-z][\\w-]{2,20})[ \\t]{1,4}${GAP})?([\\w.~+/=%:-]{6,128})`,
  'iy',
);
/** Of Digest and of AWS: several fields, of which the last ones tell most; the id of a key in them was found before. */
const PARAMETERS =
  /(?:[\w-]{1,16}=(?:\\{0,3}"[^"\r\n\xff]{0,128}"|[\w.;/+=\xff-]{1,128})(?:,[ \t]{0,4}|(?![\w"=]))){2,12}/y;
const SCHEME = /^(?:bearer|basic|token|negotiate|ntlm|api-?key|private-token)$/i;

function findAuthorization(text: string, at: number): Finding | null {
  const found = matchAt(AUTHORIZATION, text, at);
  const [whole = '', scheme = '', value = ''] = found ?? [];
  if (!found || isPlaceholder(value)) return null;
  const start = at + whole.length - value.length;
  const parameters = matchAt(PARAMETERS, text, start)?.[0];
  if (parameters !== undefined) return { start, end: start + parameters.length };
  const isMeant =
    SCHEME.test(scheme) && value.length >= 8 && !isProse(value, text.slice(start + value.length));
  if (!isMeant && !/\d|={1,2}$/.test(value)) return null;
  return { start, end: start + value.length, run: RUN.header };
}

/** A word with words behind it, or what is said of a login that is refused, as in `Token invalid-or-expired`. */
function isProse(value: string, after: string): boolean {
  if (/^[a-z]+$/.test(value) && /^ [a-z]/.test(after)) return true;
  return /^[a-z]+(?:[_-][a-z]+)+$/.test(value) && REFUSAL.test(value);
}

const REFUSAL =
  /(?:^|[_-])(?:invalid|expired|missing|required|denied|refused|rejected|revoked|failed|unauthori[sz]ed|forbidden|unknown|empty|not)(?:$|[_-])/;

const BEARER = new RegExp(`bearer[ \\t]{1,4}${GAP}([\\w.~+/=%-]{16,128})`, 'iy');

function findBearer(text: string, at: number): Finding | null {
  const isSecret = (value: string): boolean =>
    (/\d/.test(value) || looksRandom(value)) && !isPlaceholder(value);
  return toValue(matchAt(BEARER, text, at), at, isSecret, RUN.bearer);
}

const COOKIE = new RegExp(`cookie["']?:${GAP}([^${END}"'=;]{1,64}=[^\\r\\n"'\\xff]{8,${MAX_JUDGED}})`, 'iy');

function findCookie(text: string, at: number): Finding | null {
  const isSecret = (value: string): boolean => !isPlaceholder(value.slice(value.indexOf('=') + 1));
  return toValue(matchAt(COOKIE, text, at), at, isSecret, RUN.cookie);
}

const NETRC = new RegExp(
  `login[ \\t\\n]{1,8}${UNQUOTED}{1,128}[ \\t\\n]{1,8}password[ \\t\\n]{1,8}(${UNQUOTED}{4,${MAX_JUDGED}})`,
  'iy',
);

function findNetrc(text: string, at: number): Finding | null {
  return toValue(matchAt(NETRC, text, at), at, (value) => !isPlaceholder(value), RUN.value);
}

const DOCKER_AUTH =
  /"auth\\{0,3}"[ \t]{0,4}:[ \t\r\n]{0,8}\\{0,3}"([A-Za-z0-9+/]{12,1024}={0,2})(?=\\{0,3}")/y;

function findDockerAuth(text: string, at: number): Finding | null {
  return toValue(matchAt(DOCKER_AUTH, text, at), at, (value) => looksRandom(value) || value.endsWith('='));
}

const NAME = new RegExp(`${TELLING_NAME}(?![A-Za-z0-9_])`, 'iy');
const SEPARATOR = new RegExp(`(?:\\\\{0,3}["'\`]\\]?)?${GAP}(?:=>|:=|=|:)${GAP}`, 'y');
const AFTER_OPTION = new RegExp(`[ \\t]{1,4}${GAP}(?=[^\\s-])`, 'y');
const NEXT_LINE = `(?:\\r?\\n|\\\\{1,3}n)${STAMP}?[ \\t]{0,32}`;
/** Of a variable in a list: `{"name": "DB_PASSWORD", "value": …`, in YAML, and in XML. */
const IN_PAIR = new RegExp(
  `\\\\{0,3}["']?[ \\t]{0,8}(?:,[ \\t]{0,8}(?:${NEXT_LINE})?|${NEXT_LINE})\\\\{0,3}["']?value\\\\{0,3}["']?[ \\t]{0,8}[:=]${GAP}|</[\\w.-]{1,32}>(?:[ \\t]{0,8}|${NEXT_LINE})<value>`,
  'iy',
);
const IN_ELEMENT = />(?=[^\s<])/y;
const QUOTED_VALUE = new RegExp(`(["'\`])(${QUOTED}{6,900})\\1`, 'y');
/** Within a text that is quoted itself. */
const ESCAPED_VALUE = /(\\{1,3}["'`])([^"'`\\\r\n\xff]{6,900})\1/y;
const OPENING = /\\{0,3}["'`]?/y;
const MIN_VALUE = 6;
/** A name within what stands in a secret's place tells of nothing. */
const IN_OUR_WORDS = /\[redacted: [a-z-]*$/;

function findNamed(text: string, at: number, bytes: Buffer): Finding | null {
  // The word may begin before the name does: `_key` of `api_key`.
  const start = endAt(NAME, text, at) === -1 ? at + 1 : at;
  const end = endAt(NAME, text, start);
  const value = end === -1 ? -1 : findBehindName(text, start, end);
  if (value === -1 || IN_OUR_WORDS.test(text.slice(Math.max(0, start - MAX_LOOK_BACK), start))) return null;
  const name = text.slice(skipBack(text, start, RUN.word), end);
  const found = findQuoted(text, value, name) ?? findUnquoted(bytes, endAt(OPENING, text, value), name);
  return found === 'plain' ? null : found;
}

/** Where the value begins; -1 if there is none. */
function findBehindName(text: string, start: number, end: number): number {
  const separated = endAt(SEPARATOR, text, end);
  if (separated !== -1) return separated;
  const inPair = endAt(IN_PAIR, text, end);
  if (inPair !== -1) return inPair;
  const inOption = endAt(AFTER_OPTION, text, end);
  if (inOption !== -1) return isOption(text, start) || isInSql(text, start, inOption) ? inOption : -1;
  const inElement = endAt(IN_ELEMENT, text, end);
  return inElement !== -1 && text[skipBack(text, start, RUN.element) - 1] === '<' ? inElement : -1;
}

function isOption(text: string, start: number): boolean {
  return text.slice(skipBack(text, start, RUN.word), start).includes('--');
}

/** `CREATE USER app PASSWORD 'x'` */
function isInSql(text: string, start: number, value: number): boolean {
  return text[value] === "'" && /^passw/i.test(text.slice(start, start + 5));
}

/** The first of the characters in a row, of these, that end here. */
function skipBack(text: string, end: number, signs: Run): number {
  const limit = Math.max(0, end - MAX_LOOK_BACK);
  let at = end;
  while (at > limit && signs[text.charCodeAt(at - 1)]) at -= 1;
  return at;
}

function findQuoted(text: string, at: number, name: string): Finding | 'plain' | null {
  if (!/["'`\\]/.test(text[at] ?? '')) return null;
  const quoted = matchAt(QUOTED_VALUE, text, at) ?? matchAt(ESCAPED_VALUE, text, at);
  if (!quoted) return null;
  const value = quoted[2] ?? '';
  // Whole sentences speak of secrets; the few that are some have no digits, either.
  if (/\s\S+\s/.test(value) || !looksSecret(name, value)) return 'plain';
  const start = at + quoted[0].indexOf(value);
  return { start, end: start + value.length };
}

function findUnquoted(bytes: Buffer, start: number, name: string): Finding | null {
  const limit = Math.min(bytes.length, start + MAX_JUDGED);
  const run = RUN.value;
  let end = start;
  let seen = 0;
  for (; end < limit && run[bytes[end] as number]; end += 1) seen |= SORTS[bytes[end] as number] as number;
  if (end < start + MIN_VALUE || !mayBeSecret(name, seen)) return null;
  // With the bracket that ends it, if there is one: then it is code.
  const isCall = bytes[end] === 0x28 || bytes[end] === 0x5b;
  const value = bytes.toString('latin1', start, isCall ? end + 1 : end);
  return looksSecret(name, value) ? { start, end, run } : null;
}

function toValue(
  found: RegExpExecArray | null,
  at: number,
  isSecret: (value: string) => boolean,
  run?: Run,
): Finding | null {
  const value = found?.[1];
  if (!found || value === undefined || !isSecret(value)) return null;
  const start = at + found[0].length - value.length;
  return { start, end: start + value.length, ...(run && { run }) };
}
