// As much of Markdown's block structure as decides what GitLab acts on: it runs quick actions only in
// paragraphs at the top level and follows references only outside of code and quotes.

export type Block = {
  kind: 'paragraph' | 'heading' | 'code' | 'quote' | 'list' | 'table' | 'html' | 'comment';
  /** First line, and the line after the last one. */
  start: number;
  end: number;
  /** A list's or quote's own lines, without its marks. */
  inner: readonly string[];
};

export function parseBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let openTags = 0;
  let paragraph: Block | undefined;
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const next: Block | undefined = paragraph
      ? (turnedBy(lines, at, paragraph) ?? blockAt(lines, at, true))
      : blockAt(lines, at, false);
    if (next) {
      if (paragraph && next.start <= paragraph.start) blocks.pop();
      else if (paragraph) paragraph.end = Math.min(paragraph.end, next.start);
      if (next.kind === 'html') openTags += tagBalance(lines.slice(at, next.end).join('\n'));
      blocks.push(next);
      paragraph = undefined;
      at = next.end;
      continue;
    }
    if (line.trim() === '') {
      paragraph = undefined;
    } else if (paragraph) {
      paragraph.end = at + 1;
    } else {
      // What stands between raw tags is their child, not a paragraph of the top level.
      paragraph = block(openTags > 0 ? 'html' : 'paragraph', at, at + 1);
      blocks.push(paragraph);
    }
    at += 1;
  }
  return blocks;
}

/** An underline makes the whole paragraph a heading; a table's rule makes its last line a table's head. */
function turnedBy(lines: readonly string[], at: number, paragraph: Block): Block | undefined {
  const line = lines[at] ?? '';
  if (/^ {0,3}(?:=+|-+)\s*$/.test(line)) return block('heading', paragraph.start, at + 1);
  if (!line.includes('|') || !TABLE_RULE.test(line)) return undefined;
  let end = at + 1;
  while (end < lines.length && lines[end]?.trim() !== '' && !blockAt(lines, end, true)) end += 1;
  return block('table', at - 1, end);
}

type Opening = (lines: readonly string[], at: number, inParagraph: boolean) => Block | undefined;

function blockAt(lines: readonly string[], at: number, inParagraph: boolean): Block | undefined {
  if (lines[at]?.trim() === '') return undefined;
  for (const open of OPENINGS) {
    const opened = open(lines, at, inParagraph);
    if (opened) return opened;
  }
  return undefined;
}

const OPENINGS: readonly Opening[] = [fence, quoteFence, comment, html, indentedCode, heading, quote, list];

function fence(lines: readonly string[], at: number): Block | undefined {
  const mark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(lines[at] ?? '')?.[1];
  if (mark === undefined) return undefined;
  const closing = new RegExp(`^ {0,3}${mark.charAt(0)}{${mark.length},}\\s*$`);
  return blockUntil('code', lines, at, closing);
}

/** GitLab's own: everything between two lines of `>>>`. */
function quoteFence(lines: readonly string[], at: number): Block | undefined {
  const mark = /^>{3,}\s*$/;
  return mark.test(lines[at] ?? '') ? blockUntil('quote', lines, at, mark) : undefined;
}

function comment(lines: readonly string[], at: number): Block | undefined {
  const line = lines[at] ?? '';
  if (!/^ {0,3}<!--/.test(line)) return undefined;
  return line.includes('-->') ? block('comment', at, at + 1) : blockUntil('comment', lines, at, /-->/);
}

function html(lines: readonly string[], at: number, inParagraph: boolean): Block | undefined {
  const line = lines[at] ?? '';
  const raw = /^ {0,3}<(script|pre|style|textarea)(?=[\s>]|$)/i.exec(line)?.[1];
  if (raw !== undefined) {
    const closing = new RegExp(`</${raw}>`, 'i');
    return closing.test(line) ? block('html', at, at + 1) : blockUntil('html', lines, at, closing);
  }
  if (!BLOCK_TAG.test(line) && (inParagraph || !LONE_TAG.test(line))) return undefined;
  const blank = lines.findIndex((later, index) => index > at && later.trim() === '');
  return block('html', at, blank === -1 ? lines.length : blank);
}

function indentedCode(lines: readonly string[], at: number, inParagraph: boolean): Block | undefined {
  if (inParagraph || !INDENTED.test(lines[at] ?? '')) return undefined;
  let end = at + 1;
  while (INDENTED.test(lines[end] ?? '')) end += 1;
  return block('code', at, end);
}

/** Or a rule: both are one line that belongs to nothing else. */
function heading(lines: readonly string[], at: number): Block | undefined {
  const line = lines[at] ?? '';
  const alone = /^ {0,3}#{1,6}(\s|$)/.test(line) || /^ {0,3}([-*_])(\s*\1){2,}\s*$/.test(line);
  return alone ? block('heading', at, at + 1) : undefined;
}

function quote(lines: readonly string[], at: number): Block | undefined {
  return containerAt('quote', lines, at, /^ {0,3}> ?/);
}

function list(lines: readonly string[], at: number, inParagraph: boolean): Block | undefined {
  return containerAt('list', lines, at, inParagraph ? INTERRUPTING_ITEM : LIST_ITEM);
}

const INDENTED = /^(?: {4}| {0,3}\t)\s*\S/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s+|$)/;
const INTERRUPTING_ITEM = /^ {0,3}(?:[-*+]|1[.)])\s+(?=\S)/;
const TABLE_RULE = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const LONE_TAG = /^ {0,3}<\/?[a-z][\w-]*(?:\s[^<>]*)?\/?>\s*$/i;
const BLOCK_TAG = new RegExp(
  `^ {0,3}</?(?:${[
    'address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|dialog|div|dl|dt|fieldset',
    'figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|li|link|main|menu|nav|ol|optgroup|option',
    'p|section|summary|table|tbody|td|tfoot|th|thead|title|tr|ul',
  ].join('|')})(?:\\s|/?>|$)`,
  'i',
);

/** A quote or list, with the plain lines that still belong to its last paragraph. */
function containerAt(
  kind: 'quote' | 'list',
  lines: readonly string[],
  at: number,
  mark: RegExp,
): Block | undefined {
  if (!mark.test(lines[at] ?? '')) return undefined;
  const later = kind === 'list' ? LIST_ITEM : mark;
  const inner: string[] = [(lines[at] ?? '').replace(mark, '')];
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    if (later.test(line)) inner.push(line.replace(later, ''));
    else if (kind === 'list' && belongsToItem(lines, end)) inner.push(line.replace(/^(?: {2,4}|\t)/, ''));
    else if (line.trim() !== '' && endsInParagraph(inner) && !blockAt(lines, end, true)) inner.push(line);
    else break;
  }
  return { kind, start: at, end, inner };
}

function belongsToItem(lines: readonly string[], at: number): boolean {
  const next = lines.slice(at).find((line) => line.trim() !== '') ?? '';
  return /^(?: {2}|\t)/.test(next) || (lines[at]?.trim() === '' && LIST_ITEM.test(next));
}

function endsInParagraph(inner: readonly string[]): boolean {
  const last = parseBlocks(inner).at(-1);
  return last !== undefined && last.end === inner.length && /paragraph|quote|list/.test(last.kind);
}

function blockUntil(kind: Block['kind'], lines: readonly string[], at: number, closing: RegExp): Block {
  const closed = lines.findIndex((line, index) => index > at && closing.test(line));
  return block(kind, at, closed === -1 ? lines.length : closed + 1);
}

function block(kind: Block['kind'], start: number, end: number): Block {
  return { kind, start, end, inner: [] };
}

function tagBalance(html: string): number {
  let balance = 0;
  for (const [tag] of html.matchAll(/<\/?[a-z][^<>]*>/gi)) {
    if (tag.startsWith('</')) balance -= 1;
    else if (!tag.endsWith('/>') && !/^<(?:br|hr|img|input|link|meta|col)\b/i.test(tag)) balance += 1;
  }
  return balance;
}
