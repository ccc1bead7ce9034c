// Secrets that are known by what stands around them. Each has a row in tests/unit/redact/rules.test.ts.
import { RUN } from './bytes.ts';
import { type Finding, MAX_LOOK_BACK, type Rule } from './rule.ts';
import { isPlaceholder, looksRandom, looksSecret, TELLING_NAME, TELLING_WORDS } from './telling.ts';

const NAMED = 'named-secret';

/** What ends every value: blanks, control characters, and what was found already. */
const END = '\\x00-\\x20\\xff';
/** Of a value without quotes: the characters of `RUN.value`. */
const UNQUOTED = '[!#$%*+./0-9:=?@A-Z^_a-z|~\\x80-\\xfe-]';
const QUOTED = `(?:[^"'\`\\\\\\r\\n\\xff]|\\\\[^\\r\\n\\xff])`;

export const CONTEXT_RULES: readonly Rule[] = [
  {
    kind: 'url-credentials',
    words: Array.from('abcdefghijklmnopqrstuvwxyz0123456789', (character) => `${character}://`),
    find: findUrlCredentials,
  },
  { kind: 'authorization', words: ['authoriza'], find: findAuthorization },
  { kind: 'authorization', words: ['bearer'], find: findBearer },
  { kind: 'cookie', words: ['cookie'], find: findCookie },
  { kind: 'login', words: ['curl', 'wget'], find: findCurlLogin },
  { kind: 'login', words: ['login'], find: findNetrc },
  { kind: 'docker-auth', words: ['"auth"'], find: findDockerAuth },
  { kind: NAMED, words: TELLING_WORDS, find: findNamed },
];

const USER = `[^${END}/?#"'\`<>()[\\]{}\\\\,;@]`;
/** To the last sign that may end it: there are passwords with `@`. */
const LOGIN = new RegExp(`://(${USER}{0,256}:[^${END}/?#"'\`<>[\\]\\\\]{1,512})@(?=[\\w.[%-])`, 'y');
const LONE_USER = new RegExp(`://(${USER}{1,256})@(?=[\\w.[%-])`, 'y');

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

const AUTHORIZATION =
  /authorization["'\\\]]{0,4}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,4}(?:[A-Za-z][\w-]{2,20}[ \t]{1,4})?([\w.~+/=%:-]{6,1024})/iy;

function findAuthorization(text: string, at: number): Finding | null {
  return toValue(
    matchAt(AUTHORIZATION, text, at),
    at,
    (value) => !isPlaceholder(value) && /\d|={1,2}$/.test(value),
  );
}

const BEARER = /bearer[ \t]{1,4}([\w.~+/=%-]{16,1024})/iy;

function findBearer(text: string, at: number): Finding | null {
  return toValue(matchAt(BEARER, text, at), at, (value) => !isPlaceholder(value) && /\d/.test(value));
}

const COOKIE = new RegExp(`cookie["']?:[ \\t]{0,4}([^${END}"'=;]{1,64}=[^\\r\\n"'\\xff]{8,1024})`, 'iy');

function findCookie(text: string, at: number): Finding | null {
  const found = matchAt(COOKIE, text, at);
  const value = found?.[1] ?? '';
  if (!found || isPlaceholder(value.slice(value.indexOf('=') + 1))) return null;
  return { start: at + found[0].length - value.length, end: at + found[0].length };
}

const CURL_LOGIN = new RegExp(
  `(?:curl|wget)[^\\r\\n\\xff]{0,300}?[ \\t](?:-u|--user|--proxy-user)[ =]{0,2}["']?([^${END}:"']{0,100}:${UNQUOTED}{3,256})`,
  'iy',
);

function findCurlLogin(text: string, at: number): Finding | null {
  const isSecret = (value: string): boolean => !isPlaceholder(value.slice(value.indexOf(':') + 1));
  return toValue(matchAt(CURL_LOGIN, text, at), at, isSecret);
}

const NETRC = new RegExp(
  `login[ \\t\\n]{1,8}${UNQUOTED}{1,128}[ \\t\\n]{1,8}password[ \\t\\n]{1,8}(${UNQUOTED}{4,512})`,
  'iy',
);

function findNetrc(text: string, at: number): Finding | null {
  return toValue(matchAt(NETRC, text, at), at, (value) => !isPlaceholder(value));
}

const DOCKER_AUTH =
  /"auth\\{0,3}"[ \t]{0,4}:[ \t\r\n]{0,8}\\{0,3}"([A-Za-z0-9+/]{12,1024}={0,2})(?=\\{0,3}")/y;

function findDockerAuth(text: string, at: number): Finding | null {
  return toValue(matchAt(DOCKER_AUTH, text, at), at, (value) => looksRandom(value) || value.endsWith('='));
}

const NAME = new RegExp(`${TELLING_NAME}(?![A-Za-z0-9_])`, 'iy');
const SEPARATOR = /(?:\\{0,3}["'`]\]?)?[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}/y;
const AFTER_OPTION = /[ \t]{1,4}(?=[^\s-])/y;
const IN_ELEMENT = />(?=[^\s<])/y;
const QUOTED_VALUE = new RegExp(`(["'\`])(${QUOTED}{6,900})\\1`, 'y');
/** Within a text that is quoted itself. */
const ESCAPED_VALUE = /(\\{1,3}["'`])([^"'`\\\r\n\xff]{6,900})\1/y;
const UNQUOTED_VALUE = new RegExp(`\\\\{0,3}["'\`]?(${UNQUOTED}{6,1024})`, 'y');
/** A name within what stands in a secret's place tells of nothing. */
const IN_OUR_WORDS = /\[redacted: [a-z-]*$/;

function findNamed(text: string, at: number): Finding | null {
  // The word may begin before the name does: `_key` of `api_key`.
  const start = [at, at + 1].find((place) => matchAt(NAME, text, place));
  if (start === undefined) return null;
  const before = text.slice(Math.max(0, start - MAX_LOOK_BACK), start);
  if (IN_OUR_WORDS.test(before)) return null;
  const end = start + (matchAt(NAME, text, start)?.[0].length ?? 0);
  const separator =
    matchAt(SEPARATOR, text, end) ??
    (/--[\w-]*$/.test(before) ? matchAt(AFTER_OPTION, text, end) : null) ??
    (/<[\w:.-]*$/.test(before) ? matchAt(IN_ELEMENT, text, end) : null);
  if (!separator) return null;
  const name = (/[\w-]*$/.exec(before)?.[0] ?? '') + text.slice(start, end);
  return findValue(text, end + separator[0].length, name);
}

function findValue(text: string, at: number, name: string): Finding | null {
  const quoted = matchAt(QUOTED_VALUE, text, at) ?? matchAt(ESCAPED_VALUE, text, at);
  if (quoted) {
    const value = quoted[2] ?? '';
    // Whole sentences speak of secrets; the few that are some have no digits, either.
    if (/\s\S+\s/.test(value) || !looksSecret(name, value)) return null;
    const start = at + quoted[0].indexOf(value);
    return { start, end: start + value.length };
  }
  const found = toValue(matchAt(UNQUOTED_VALUE, text, at), at, (value) =>
    looksSecret(name, withCall(text, at, value)),
  );
  return found && { ...found, run: RUN.value };
}

/** With the bracket that ends it, if there is one: then it is code. */
function withCall(text: string, at: number, value: string): string {
  const next = text[at + value.length] ?? '';
  return next === '(' || next === '[' ? value + next : value;
}

function toValue(
  found: RegExpExecArray | null,
  at: number,
  isSecret: (value: string) => boolean,
): Finding | null {
  const value = found?.[1];
  if (!found || value === undefined || !isSecret(value)) return null;
  const start = at + found[0].length - value.length;
  return { start, end: start + value.length };
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}
