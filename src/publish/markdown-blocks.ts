// Divides Markdown into code and the rest, such that GitLab can not see it differently: a fence is written
// out so that it is code whether or not it stands in a list item.

import { closesFence, type Fence, indentOf, openFence } from '../fences.ts';

export interface TextBlock {
  /** A whole fence, its marks and those of an item that it begins included; or neighbouring lines without a blank one. */
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

/** The lines up to the closing one, or to the end. */
function takeFence(lines: readonly string[], start: number, fence: Fence): string[] {
  let end = start;
  while (end < lines.length && !closesFence(lines[end] ?? '', fence)) end += 1;
  return lines.slice(start, end);
}

function toCode({ marks, indent, mark, info }: Fence, content: readonly string[]): TextBlock {
  const language = info.trim().split(/\s/, 1)[0]?.toLowerCase() ?? '';
  const margin = ' '.repeat(indent);
  // A line that stands further left would end a list item and its fence with it. Markdown takes the margin
  // off again, so the code looks the same.
  const padded = content.map((line) =>
    /^[ \t]*$/.test(line) || indentOf(line) >= indent ? line : `${margin}${line.replace(/^[ \t]+/, '')}`,
  );
  const opening = `${margin}${mark}${LANGUAGES.has(language) ? language : ''}`;
  // An item may begin with an empty line, but not with two.
  const item = marks === '' ? [] : [marks];
  return { kind: 'code', lines: [...item, opening, ...padded, `${margin}${mark}`] };
}

// Those that are only coloured. Others are drawn, queried or offered as a change: mermaid, glql, suggestion.
const LANGUAGES = new Set(
  [
    'bash c console cpp cs css csharp diff dockerfile go gradle groovy html http ini java javascript js json',
    'jsx kotlin log lua make makefile markdown md patch perl php plaintext powershell properties proto python',
    'py rb ruby rust rs scala scss sh shell sql swift text toml ts tsx txt typescript xml yaml yml zsh',
  ].flatMap((names) => names.split(' ')),
);
