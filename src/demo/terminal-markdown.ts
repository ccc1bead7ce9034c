import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { type Look, paint } from './paint.ts';
import { toPrintable } from './printable.ts';

/** Markdown as lines for a terminal: what GitLab hides is hidden, and no line is wider than told. */
export function renderMarkdown(source: string, look: Look): string[] {
  return renderBlocks(lexer(toPrintable(source)), look);
}

const MIN_WIDTH = 20;
const CODE_BAR = '  │ ';
const QUOTE_BAR = '┃ ';

function renderBlocks(tokens: Token[], look: Look, gap: string[] = ['']): string[] {
  return tokens
    .map((token) => renderBlock(token, look))
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : [...gap, ...lines]));
}

function renderBlock(token: Token, look: Look): string[] {
  // No extension adds tokens of its own.
  const block = token as MarkedToken;
  switch (block.type) {
    case 'heading':
      return wrap(paint('bold', renderInline(block.tokens, look), look), look);
    case 'code':
      return renderCode(block, look);
    case 'blockquote':
      return indent(paint('dim', QUOTE_BAR, look), renderBlocks(block.tokens, narrow(look, QUOTE_BAR)));
    case 'list':
      return renderList(block, look);
    case 'table':
      return renderTable(block, look);
    case 'hr':
      return [paint('dim', '─'.repeat(look.width), look)];
    case 'html':
      return wrap(withoutTags(block.text), look);
    case 'space':
    case 'def':
    case 'checkbox':
      return [];
    default:
      return wrap(renderInline('tokens' in block && block.tokens ? block.tokens : [block], look), look);
  }
}

function renderCode({ text, lang }: Tokens.Code, look: Look): string[] {
  const { width } = narrow(look, CODE_BAR);
  const lines = text.split('\n').flatMap((line) => {
    const painted = lang === 'diff' ? paintDiff(line, look) : line;
    return wrapAnsi(painted, width, { hard: true, trim: false }).split('\n');
  });
  return indent(paint('dim', CODE_BAR, look), lines);
}

function paintDiff(line: string, look: Look): string {
  if (line.startsWith('+')) return paint('green', line, look);
  if (line.startsWith('-')) return paint('red', line, look);
  return line.startsWith('@@') ? paint('cyan', line, look) : line;
}

function renderList({ items, ordered, start, loose }: Tokens.List, look: Look): string[] {
  return items.flatMap(({ tokens, task, checked }, index) => {
    const bullet = task ? (checked ? '☑ ' : '☐ ') : '• ';
    const mark = ordered ? `${Number(start) + index}. ` : bullet;
    const lines = renderBlocks(tokens, narrow(look, mark), loose ? [''] : []);
    const item = indent(mark, lines.length > 0 ? lines : [''], ' '.repeat(stringWidth(mark)));
    return loose && index > 0 ? ['', ...item] : item;
  });
}

function renderTable({ header, rows, align }: Tokens.Table, look: Look): string[] {
  const toCells = (row: Tokens.TableCell[]): string[] =>
    row.map(({ tokens }) => renderInline(tokens, look).replaceAll('\n', ' '));
  const head = toCells(header).map((cell) => paint('bold', cell, look));
  const body = rows.map(toCells);
  const widths = head.map((_, at) => Math.max(...[head, ...body].map((row) => stringWidth(row[at] ?? ''))));
  const total = widths.reduce((sum, width) => sum + width + 3, -3);
  // What is too wide for columns is read row by row.
  if (total > look.width)
    return body.flatMap((row) =>
      row.flatMap((cell, at) =>
        indent(at === 0 ? '• ' : '  ', wrap(`${head[at]}: ${cell}`, narrow(look, '• ')), '  '),
      ),
    );
  const toRow = (row: string[]): string =>
    row.map((cell, at) => pad(cell, widths[at] ?? 0, align[at])).join(paint('dim', ' │ ', look));
  const rule = paint('dim', widths.map((width) => '─'.repeat(width)).join('─┼─'), look);
  return [toRow(head), rule, ...body.map(toRow)].map((line) => line.trimEnd());
}

function pad(cell: string, width: number, align: Tokens.TableCell['align'] | undefined): string {
  const space = ' '.repeat(width - stringWidth(cell));
  return align === 'right' ? `${space}${cell}` : `${cell}${space}`;
}

function renderInline(tokens: Token[], look: Look): string {
  let isSmall = false;
  return tokens
    .map((token) => {
      if (token.type === 'html')
        isSmall = /^<sub\b/i.test(token.raw) || (isSmall && !/^<\/sub\b/i.test(token.raw));
      const text = renderSpan(token as MarkedToken, look);
      return isSmall ? paint('dim', text, look) : text;
    })
    .join('');
}

function renderSpan(span: MarkedToken, look: Look): string {
  switch (span.type) {
    case 'strong':
      return paint('bold', renderInline(span.tokens, look), look);
    case 'em':
      return paint('italic', renderInline(span.tokens, look), look);
    case 'del':
      return paint('strikethrough', renderInline(span.tokens, look), look);
    case 'codespan':
      return look.hasColours ? paint('cyan', span.text, look) : `\`${span.text}\``;
    case 'link':
    case 'image':
      return renderLink(span.tokens, decode(span.href), look);
    case 'html':
      return /^<br\b/i.test(span.raw) ? '\n' : '';
    case 'br':
      return '\n';
    case 'text':
    case 'escape':
      return decode(span.text).replaceAll(/\s+/g, ' ');
    default:
      return '';
  }
}

function renderLink(tokens: Token[], url: string, look: Look): string {
  const text = renderInline(tokens, look);
  if (look.hasColours && /^https?:/i.test(url))
    return `\x1b]8;;${url}\x1b\\${paint(['underline', 'blue'], text, look)}\x1b]8;;\x1b\\`;
  return text === url ? url : `${text} (${url})`;
}

function withoutTags(html: string): string {
  return decode(html.replaceAll(/<!--[\s\S]*?(?:-->|$)|<[^>]*>/g, '')).trim();
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** An entity can stand for any character, also for one that must not reach the terminal. */
function decode(text: string): string {
  const decoded = text.replaceAll(
    /&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z]+));/gi,
    (entity, decimal, hex, name) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? entity;
      return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
    },
  );
  return toPrintable(decoded);
}

function wrap(text: string, { width }: Look): string[] {
  return text === '' ? [] : wrapAnsi(text, width, { hard: true }).split('\n');
}

function narrow(look: Look, prefix: string): Look {
  return { ...look, width: Math.max(MIN_WIDTH, look.width - stringWidth(prefix)) };
}

function indent(first: string, lines: string[], further = first): string[] {
  return lines.map((line, index) => `${index === 0 ? first : further}${line}`);
}
