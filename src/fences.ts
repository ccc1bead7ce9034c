// Where a block of code begins and ends in Markdown. Whoever writes a note and whoever checks it have to agree.

export interface Fence {
  /** Of items of lists that begin on the same line. */
  marks: string;
  /** In columns. */
  indent: number;
  mark: string;
  /** What stands behind the mark. */
  info: string;
}

const ITEM = '(?:[-*+]|\\d{1,9}[.)])[ \\t]+';
const OPENING = new RegExp(`^([ \\t]*)((?:${ITEM})*)(\`{3,}(?=[^\`]*$)|~{3,})(.*)$`, 's');
const MAX_INDENT = 20;

export function openFence(line: string): Fence | null {
  const [, blanks = '', marks = '', mark, info = ''] = OPENING.exec(line) ?? [];
  const indent = columnsOf(blanks + marks);
  return mark === undefined || indent > MAX_INDENT
    ? null
    : { marks: `${blanks}${marks}`.trimEnd(), indent, mark, info };
}

export function closesFence(line: string, { indent, mark }: Fence): boolean {
  const run = CLOSING.exec(line)?.[1] ?? '';
  // Further right it is content in every reading; up to here it becomes the closing mark in every reading.
  return run.startsWith(mark) && indentOf(line) <= indent + 3;
}

const CLOSING = /^[ \t]*(`+|~+)[ \t]*$/;

/** In columns; a tab goes to the next multiple of four. */
export function indentOf(line: string): number {
  return columnsOf(/^[ \t]*/.exec(line)?.[0] ?? '');
}

function columnsOf(text: string): number {
  let columns = 0;
  for (const sign of text) columns += sign === '\t' ? 4 - (columns % 4) : 1;
  return columns;
}
