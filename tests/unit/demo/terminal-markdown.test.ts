import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { renderMarkdown } from '../../../src/demo/terminal-markdown.ts';

const render = (source: string, width = 60) => renderMarkdown(source, { width, hasColours: false });
const paint = (source: string, width = 60) =>
  renderMarkdown(source, { width, hasColours: true }).join('\n').replaceAll('\x1b', '␛');

describe('without colours', () => {
  test('a paragraph is joined as on a page, and its marks are gone except those of code', () => {
    expect(render('# Why\n\n**It** is *the*\n`rounding` &amp; \\*no\\* &#8211;&nbsp;more<br>end')).toEqual([
      'Why',
      '',
      'It is the `rounding` & *no* – more',
      'end',
    ]);
  });

  test('a link shows its address, an address stands alone', () => {
    expect(render('[job](https://x.example/1?a&amp;b), https://x.example/2')).toEqual([
      'job (https://x.example/1?a&b), https://x.example/2',
    ]);
  });

  test('lists keep their marks and numbers, and what is nested is indented', () => {
    expect(render('3. three\n   - a\n   - b\n     - c\n4. four\n\n- [x] done\n- [ ] open')).toEqual([
      '3. three',
      '   • a',
      '   • b',
      '     • c',
      '4. four',
      '',
      '☑ done',
      '☐ open',
    ]);
  });

  test('a table has straight columns, also with wide characters', () => {
    expect(render('| what | n |\n|---|--:|\n| 日本 | 1 |\n| `x` | 222 |')).toEqual([
      'what │   n',
      '─────┼────',
      '日本 │   1',
      '`x`  │ 222',
    ]);
  });

  test('a table that does not fit is read row by row', () => {
    expect(render('| what | cause |\n|---|---|\n| a | one two six three four |\n| b | five |', 20)).toEqual([
      '• what: a',
      '  cause: one two six',
      '  three four',
      '• what: b',
      '  cause: five',
    ]);
  });

  test('code keeps its spaces and its marks, and a quote has a bar', () => {
    expect(render('> said\n\n```js\nif (a) {\n    **b**;\n}\n```')).toEqual([
      '┃ said',
      '',
      '  │ if (a) {',
      '  │     **b**;',
      '  │ }',
    ]);
  });

  test('comments and tags are not seen, what is between tags is', () => {
    expect(
      render(
        '<details><summary>More</summary>\n\ninside\n\n</details>\n\n<sub>small</sub> <!-- a -->\n\n<!-- b\n\nc -->',
      ),
    ).toEqual(['More', '', 'inside', '', 'small']);
  });
});

describe('with colours', () => {
  test.each([
    ['## Why', '␛[1mWhy␛[22m'],
    ['**a** *b* ~~c~~', '␛[1ma␛[22m ␛[3mb␛[23m ␛[9mc␛[29m'],
    ['`a`', '␛[36ma␛[39m'],
    ['<sub>a</sub>', '␛[2ma␛[22m'],
    ['[a](https://x.example/1)', '␛]8;;https://x.example/1␛\\␛[4m␛[34ma␛[39m␛[24m␛]8;;␛\\'],
    ['[a](file:///etc)', 'a (file:///etc)'],
  ])('%s', (source, expected) => {
    expect(paint(source)).toBe(expected);
  });

  test('a diff has red and green lines, and only a diff', () => {
    expect(paint('```diff\n@@ -1 +1 @@\n-a\n+b\n c\n```')).toBe(
      [
        '␛[2m  │ ␛[22m␛[36m@@ -1 +1 @@␛[39m',
        '␛[2m  │ ␛[22m␛[31m-a␛[39m',
        '␛[2m  │ ␛[22m␛[32m+b␛[39m',
        '␛[2m  │ ␛[22m c',
      ].join('\n'),
    );
    expect(paint('```text\n-a\n```')).toBe('␛[2m  │ ␛[22m-a');
  });

  test('a colour ends with its line and goes on in the next', () => {
    expect(paint('**one two three four**', 20).split('\n')).toEqual(['␛[1mone two three four␛[22m']);
    expect(paint('**one two three four five**', 20).split('\n')).toEqual([
      '␛[1mone two three four␛[22m',
      '␛[1mfive␛[22m',
    ]);
  });
});

describe('long lines', () => {
  const WORDS = 'eine lange Zeile 日本語のとても長い文章 ';

  test.each([
    ['a paragraph', WORDS.repeat(9)],
    ['one word', 'x'.repeat(300)],
    ['a list in a quote', `> - ${WORDS.repeat(9)}\n>   1. ${'y'.repeat(200)}`],
    ['code', `\`\`\`\n\t  ${WORDS.repeat(9)}${'z'.repeat(99)}\n\`\`\``],
    ['a table', `| a | b |\n|---|---|\n| ${WORDS.repeat(4)} | ${'z'.repeat(99)} |`],
    ['links', `[${WORDS.repeat(3)}](https://x.example/${'z'.repeat(99)}) `.repeat(3)],
  ])('%s is never wider than told, and nothing of it is lost', (_what, source) => {
    for (const line of [...render(source, 50), ...paint(source, 50).replaceAll('␛', '\x1b').split('\n')])
      expect(stringWidth(line)).toBeLessThanOrEqual(50);
    const shown = render(source, 50).join('');
    for (const sign of ['日', '章', 'x', 'y', 'z']) expect(count(shown, sign)).toBe(count(source, sign));
  });
});

describe('what a terminal would obey', () => {
  test.each([
    ['a colour', '\x1b[31mred', 'red'],
    ['a title', 'a\x1b]0;owned\x07b', 'ab'],
    ['a cleared screen in code', '`\x1b[2Ja`', '`a`'],
    ['an 8-bit sequence', '\x9b31mred', 'red'],
    ['a backspace', 'ab\x08c', 'abc'],
    ['an entity', '&#27;[31mred &#x1b;]0;a&#7;b', 'red b'],
    ['an address', '[a](https://x.example/&#27;[31m)', 'a (https://x.example/)'],
    ['turned text', 'a\u202eb', 'ab'],
  ])('%s does not reach it', (_what, source, expected) => {
    expect(render(source)).toEqual([expected]);
  });

  test('whatever the text is, only our own sequences are in it', () => {
    const pieces = fc.constantFrom(
      '\x1b[2J',
      '\x1b]8;;',
      '\x9b',
      '\x07',
      '&#27;',
      '`',
      '```\n',
      '|',
      '[a](',
      ')',
      'a',
      '\n',
      '> ',
      '- ',
      '<!--',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const text = renderMarkdown(parts.join(''), { width: 40, hasColours: true }).join('\n');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
        const rest = text.replaceAll(/\x1b\[\d+m|\x1b\]8;;(?:https?:[^\x07\x1b]*)?(?:\x07|\x1b\\)/g, '');
        expect(rest).not.toMatch(/(?!\n)\p{Cc}/u);
      }),
    );
  });
});

function count(text: string, sign: string): number {
  return text.split(sign).length - 1;
}
