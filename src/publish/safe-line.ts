// One line of Markdown outside of fences. Each line is made whole in itself: no code span, comment or
// formula can begin in one line and end in another, so what is code here is code for GitLab.

import { breakReferences, NOTHING } from './break-references.ts';
import { escapeAddress, type IsLinkHost, matchAddress } from './link-hosts.ts';

export interface LineOptions {
  /** Usernames in lower case that may be notified. */
  allowed: ReadonlySet<string>;
  isLinkHost: IsLinkHost;
  /** There a `|` ends a cell, even within code. */
  inTable: boolean;
}

export function makeLineSafe(line: string, options: LineOptions): string {
  const safe = scan(line, { ...options, trustsCode: true });
  const inert = isHtmlLine(safe) ? scan(line, { ...options, trustsCode: false }) : safe;
  // A quick action begins its line.
  return inert.replace(/^(\s*)\/(?=[a-z])/i, `$1${encode('/')}`);
}

/** It may start raw HTML, in which Markdown means nothing: backticks make no code there. */
export function isHtmlLine(line: string): boolean {
  return /^[\s>*+\d.)-]*<\/?(?:details|summary|sub|br)\b/i.test(line);
}

function scan(line: string, options: LineOptions & { trustsCode: boolean }): string {
  const lastRunOf = new Map([...line.matchAll(/`+/g)].map((run) => [run[0].length, run.index]));
  const lastCommentEnd = line.lastIndexOf('-->');
  const hasReference = mayReferToAnIssue(line);
  let out = '';
  /** What was read since the last code or address. */
  let text = '';
  const keep = (part: string): void => {
    out += breakReferences(text) + part;
    text = '';
  };
  for (let at = 0; at < line.length; ) {
    const address = matchAddress(line, at, { ...options, where: 'text' });
    const token = matchAt(TOKEN, line, at) ?? line.charAt(at);
    const next = at + token.length;
    if (address !== '') {
      keep(escapeAddress(address));
      at += address.length;
      continue;
    }
    at = next;
    if (token.startsWith('`')) {
      const isClosed = options.trustsCode && (lastRunOf.get(token.length) ?? -1) >= next;
      const end = isClosed ? endOfCode(line, next, token.length) : next;
      const code = `${token}${line.slice(next, end)}`;
      // Not every reader gives code precedence over a link.
      const isCode = isClosed && !code.includes('](');
      if (isCode) at = end;
      if (isCode) keep(options.inTable ? escapePipes(code) : code);
      else text += encode(token);
    } else if (token === '<!--' && lastCommentEnd >= next) {
      at = line.indexOf('-->', next) + 3;
      text += ' ';
    } else if (token === '@') {
      text += toMention(line, next, options.allowed);
    } else if (token === '](') {
      const target = matchAddress(line, next, { ...options, where: 'brackets' });
      text += target === '' ? `]${encode('(')}` : token;
      if (target !== '') keep(escapeAddress(target));
      at += target.length;
    } else if (token.length > 1 && /^[a-z]/i.test(token)) {
      const isWord = hasReference && !/[a-z\d]/i.test(line.charAt(next - token.length - 1));
      text += isWord ? `${token.charAt(0)}${NOTHING}${token.slice(1)}` : token;
    } else {
      text += replacementOf(token, line, next);
    }
  }
  keep('');
  return out;
}

const NAME_RUN = /[\w./-]+/y;
const TAG = '</?(?:details|summary|sub|br)(?: open)? ?/?>';
const CLOSING_WORD = 'clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?';
const TOKEN = new RegExp(
  [
    '`+|~{3,}|>{3,}',
    '\\\\[!-/:-@[-`{-~]',
    `<!--|${TAG}`,
    '&(?:#\\d{1,8}|#x[\\da-f]{1,8}|[a-z][a-z\\d]{1,40});',
    '!(?=\\[)|\\[[[^]|\\][(:]',
    `(?:${CLOSING_WORD})(?![a-z\\d])`,
  ].join('|'),
  'iy',
);

/** `#12`, a link, or a key such as `SHOP-12`; the numbers of our own entities are none, unless they are only text. */
function mayReferToAnIssue(line: string): boolean {
  const others = line.replaceAll(/(?<!\\)&#\d{2,3};/g, (entity) => (HARMLESS.has(entity) ? ' ' : entity));
  return /#|https?:|\w-\d/i.test(others);
}

function matchAt(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0];
}

/** Behind the next run of exactly that many backticks; the caller knows that there is one. */
function endOfCode(line: string, start: number, length: number): number {
  const runs = /`+/g;
  runs.lastIndex = start;
  for (let run = runs.exec(line); run; run = runs.exec(line)) {
    if (run[0].length === length) return runs.lastIndex;
  }
  return line.length;
}

function escapePipes(code: string): string {
  return code.replaceAll(/\\.|\|/gs, (found) => (found === '|' ? '\\|' : found));
}

/** What stands for an `@`, when `next` is the place behind it. Within a word it is a mail address, which is no link. */
function toMention(line: string, next: number, allowed: ReadonlySet<string>): string {
  const after = line.charAt(next);
  if (after === NOTHING || after.trim() === '') return '@';
  if (/[a-z\d]/i.test(line.charAt(next - 2))) return `@${NOTHING}`;
  const run = matchAt(NAME_RUN, line, next) ?? '';
  let end = run.length;
  // A sentence may end behind a name, a name does not end like a sentence.
  while ('./'.includes(run.charAt(end - 1)) && end > 0) end -= 1;
  return allowed.has(run.slice(0, end).toLowerCase()) ? '@' : `@${NOTHING}`;
}

function replacementOf(token: string, line: string, next: number): string {
  if (token.startsWith('\\') && token.length === 2) return toLiteral(token.charAt(1), line.charAt(next));
  if (token === '<' || token === '<!--') return `&lt;${token.slice(1)}`;
  if (token.startsWith('>>>')) return '&gt;'.repeat(token.length);
  if (token.startsWith('~~~') || token === '$') return encode(token);
  if (token === '!') return line.charAt(next) === '[' ? encode(token) : token;
  if (token.startsWith('&') && token.length > 1)
    return HARMLESS.has(token) ? token : `&amp;${token.slice(1)}`;
  if (token.length === 2 && /^[[\]]/.test(token)) return `${token.charAt(0)}${encode(token.charAt(1))}`;
  return token;
}

/** A sign after a backslash. In raw HTML the backslash would not guard it, an entity does everywhere. */
function toLiteral(sign: string, after: string): string {
  if (sign === '@') return after === NOTHING ? '\\@' : `\\@${NOTHING}`;
  if (sign === '<') return '&lt;';
  if (sign === '>') return '&gt;';
  if (sign === '&') return '&amp;';
  return ENCODED.includes(sign) ? encode(sign) : `\\${sign}`;
}

const ENCODED = '!$(+-/:;[\\]^`~';

/** As entities, which look like the signs and have none of their meaning. */
function encode(signs: string): string {
  return [...signs].map((sign) => `&#${sign.charCodeAt(0)};`).join('');
}

const HARMLESS = new Set([
  ...['&lt;', '&gt;', '&amp;', '&quot;', '&apos;', '&nbsp;'],
  ...[...ENCODED].map((sign) => encode(sign)),
]);
