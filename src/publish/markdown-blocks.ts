// Divides Markdown into code and the rest, such that GitLab can not see it differently: a fence is written
// out so that it is code whether or not it stands in a list item.

export interface TextBlock {
  /** A whole fence, its marks included; or neighbouring lines without a blank one. */
  kind: 'code' | 'paragraph';
  lines: string[];
}

export function toBlocks(lines: readonly string[]): TextBlock[] {
  const blocks: TextBlock[] = [];
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) blocks.push({ kind: 'paragraph', lines: paragraph });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const fence = openFence(line);
    if (fence) {
      endParagraph();
      const content = takeFence(lines, at + 1, fence);
      blocks.push(toCode(fence, content));
      at += content.length + 1;
    } else if (line.trim() === '') {
      endParagraph();
    } else {
      paragraph.push(line);
    }
  }
  endParagraph();
  return blocks;
}

interface Fence {
  indent: number;
  mark: string;
  language: string;
}

const MAX_INDENT = 20;

function openFence(line: string): Fence | null {
  const [, mark, info = ''] = /^[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)$/s.exec(line) ?? [];
  const indent = indentOf(line);
  if (mark === undefined || indent > MAX_INDENT) return null;
  const language = info.trim().split(/\s/, 1)[0]?.toLowerCase() ?? '';
  return { indent, mark, language: LANGUAGES.has(language) ? language : '' };
}

/** The lines up to the closing one, or to the end. */
function takeFence(lines: readonly string[], start: number, { indent, mark }: Fence): string[] {
  let end = start;
  while (end < lines.length && !closes(lines[end] ?? '', indent, mark)) end += 1;
  return lines.slice(start, end);
}

function closes(line: string, indent: number, mark: string): boolean {
  const run = /^[ \t]*(`+|~+)[ \t]*$/.exec(line)?.[1] ?? '';
  // Further right it is content in every reading; up to here it becomes the closing mark in every reading.
  return run.startsWith(mark) && indentOf(line) <= indent + 3;
}

function toCode({ indent, mark, language }: Fence, content: readonly string[]): TextBlock {
  const margin = ' '.repeat(indent);
  // A line that stands further left would end a list item and its fence with it. Markdown takes the margin
  // off again, so the code looks the same.
  const padded = content.map((line) =>
    /^[ \t]*$/.test(line) || indentOf(line) >= indent ? line : `${margin}${line.replace(/^[ \t]+/, '')}`,
  );
  return { kind: 'code', lines: [`${margin}${mark}${language}`, ...padded, `${margin}${mark}`] };
}

/** In columns; a tab goes to the next multiple of four. */
function indentOf(line: string): number {
  let columns = 0;
  for (const sign of line) {
    if (sign === ' ') columns += 1;
    else if (sign === '\t') columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

// Those that are only coloured. Others are drawn, queried or offered as a change: mermaid, glql, suggestion.
const LANGUAGES = new Set(
  [
    'bash c console cpp cs css csharp diff dockerfile go gradle groovy html http ini java javascript js json',
    'jsx kotlin log lua make makefile markdown md patch perl php plaintext powershell properties proto python',
    'py rb ruby rust rs scala scss sh shell sql swift text toml ts tsx txt typescript xml yaml yml zsh',
  ].flatMap((names) => names.split(' ')),
);
