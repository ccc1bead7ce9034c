// What a note's text sets off besides quick actions: telling people, and words that close issues.
import { parseBlocks } from './markdown.ts';

/** The names after an `@`; whether somebody has that name is for the caller to know. */
export function findMentions(text: string): string[] {
  const found = toProse(text).matchAll(/(?<!\w)(?<!(?<!\\)(?:\\\\)*\\)@(\w(?:[\w.-]*\w)?)/g);
  return [...new Set([...found].map((match) => match[1] ?? ''))];
}

/** Such as `Closes #12`, `fixes group/project#3` or the link of an issue in their place. */
export function findClosingReferences(text: string): string[] {
  return [...toProse(text, { links: 'keep' }).matchAll(CLOSING)].map((match) => match[0]);
}

const CLOSING =
  /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):? +(?:issues? +)?(?:[\w./-]*#\d+|https?:\/\/\S+\/issues\/\d+)/gi;

/** The text in which GitLab follows references: no code, no quotes, no comments. */
function toProse(text: string, options: { links: 'keep' | 'drop' } = { links: 'drop' }): string {
  const lines = text.replaceAll('\r', '').split('\n');
  const parts = parseBlocks(lines).map((block) => {
    if (block.kind === 'code' || block.kind === 'quote' || block.kind === 'comment') return '';
    if (block.kind === 'list') return toProse(block.inner.join('\n'), options);
    return withoutInlineCode(lines.slice(block.start, block.end).join('\n'));
  });
  const prose = parts.join('\n\n');
  return options.links === 'keep' ? prose : prose.replaceAll(/https?:\/\/\S+/g, ' ');
}

function withoutInlineCode(text: string): string {
  return (
    text
      .replaceAll(/(?<![`\\])(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, ' ')
      .replaceAll(/<(code|pre|kbd)\b[^>]*>[\s\S]*?<\/\1>/gi, ' ')
      .replaceAll(/<!--[\s\S]*?-->/g, ' ')
      // GitLab looks for references after Markdown was rendered, when an entity is the sign again.
      .replaceAll(/&#64;|&#x40;|&commat;/gi, '@')
      .replaceAll(/&#35;|&#x23;|&num;/gi, '#')
  );
}
