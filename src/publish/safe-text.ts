import { NOTHING } from './break-references.ts';
import { createLinkHosts } from './link-hosts.ts';
import { toBlocks } from './markdown-blocks.ts';
import { isHtmlLine, type LineOptions, makeLineSafe } from './safe-line.ts';
import { toPlainLines } from './visible-text.ts';

export interface SafeTextOptions {
  maxBytes: number;
  /** Usernames that may be notified. */
  allowMentions: readonly string[];
  /** Where links may lead: `host`, `host:port` or `*.domain`; to nowhere unless told. */
  linkHosts?: readonly string[];
}

/**
 * What a model wrote, made harmless and looking the same: it runs no quick action, notifies nobody else, closes and
 * refers to nothing, links to known hosts only, and has no comments, images, hidden characters or HTML beyond a few
 * plain tags. Code stays as it is.
 */
export function makeSafe(text: string, { maxBytes, allowMentions, linkHosts = [] }: SafeTextOptions): string {
  const allowed: Allowed = {
    allowed: new Set(allowMentions.map((name) => name.toLowerCase())),
    isLinkHost: createLinkHosts(linkHosts),
  };
  const clean = toPlainLines(text);
  // Nothing behind this can be within the limit; so the work is bounded by the limit, not by the text.
  const head = clean.slice(0, maxBytes);
  const whole = render(head, allowed);
  if (head === clean && Buffer.byteLength(whole) <= maxBytes) return whole;

  const notice = `*The rest was cut: it did not fit into ${maxBytes} bytes.*`;
  const cutAt = (end: number): string => `${render(head.slice(0, end), allowed)}\n\n${notice}`.trimStart();
  const fits = (end: number): boolean => Buffer.byteLength(cutAt(end)) <= maxBytes;
  if (!fits(0)) return '';
  const lineEnds = [...head.matchAll(/\n/g)].map(({ index }) => index);
  const byLines = lineEnds[lastIndexThat(lineEnds.length, (at) => fits(lineEnds[at] ?? 0))];
  if (byLines !== undefined && byLines > 0) return cutAt(byLines);
  // The first line alone is too long.
  return cutAt(Math.max(0, lastIndexThat(head.length, fits)));
}

type Allowed = Omit<LineOptions, 'inTable'>;

function render(text: string, allowed: Allowed): string {
  const out: string[] = [];
  const push = (line: string) => {
    if (line !== '' || (out.at(-1) ?? '') !== '') out.push(line);
  };
  let openDetails = 0;
  for (const { kind, lines } of toBlocks(text.toWellFormed().split('\n'))) {
    // Also before code: deeply indented, it could else be the rest of a paragraph.
    push('');
    if (kind === 'code') {
      out.push(...lines);
      continue;
    }
    for (const line of makeParagraphSafe(lines, allowed)) {
      push(line);
      if (!isHtmlLine(line)) continue;
      openDetails += count(line, /<details\b/gi) - count(line, /<\/details\b/gi);
      // Markdown is only read again after a blank line; without one, code below would be no code.
      push('');
    }
  }
  for (; openDetails > 0; openDetails -= 1) out.push('', '</details>');
  return withoutFrontMatter(out).map(withoutInclude).join('\n').trimEnd();
}

function makeParagraphSafe(lines: readonly string[], allowed: Allowed): string[] {
  const safe = lines.map((line) => makeLineSafe(line, { ...allowed, inTable: false }));
  if (!safe.some(isTableRule)) return safe;
  return lines.map((line) => makeLineSafe(line, { ...allowed, inTable: true }));
}

function isTableRule(line: string): boolean {
  return /^[\s>*+\d.)|:-]*$/.test(line) && line.includes('-') && line.includes('|');
}

/** GitLab turns front matter into a code block before it reads the Markdown, which would move our fences. */
function withoutFrontMatter([first = '', second = '', ...rest]: string[]): string[] {
  const disarm = (line: string) =>
    line.replace(/^(?:---|\+\+\+|;;;)/, (mark) => `&#${mark.charCodeAt(0)};${mark.slice(1)}`);
  return [disarm(first), first.includes('coding:') ? disarm(second) : second, ...rest];
}

/** GitLab puts files in the place of such lines before it reads the Markdown, in code as well. */
function withoutInclude(line: string): string {
  return line.replace(/^(\s*:)(?=:include)/i, `$1${NOTHING}`);
}

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

/** For a condition that holds up to some index; -1 if it never does. */
function lastIndexThat(length: number, holds: (at: number) => boolean): number {
  let low = -1;
  let high = length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
