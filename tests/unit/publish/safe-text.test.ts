import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeSafe } from '../../../src/publish/safe-text.ts';
import { texts } from './random-text.ts';

const linkHosts = ['gitlab.test', 'npm.test'];
const safe = (text: string, maxBytes = 10_000) =>
  makeSafe(text, { maxBytes, allowMentions: ['nadia'], linkHosts });

const ORDINARY = `## Verdict: the change broke \`round()\`

The job [unit](https://gitlab.test/shop/-/jobs/7#L12) failed, 3 < 4 tests:

\`\`\`ts
expect(round(@x)).toBe('/close'); // <!-- fixes #1 -->
\`\`\`

1. Run \`a | b\` & look
2. Write to \`me@example.com\`

| job | why |
|---|---|
| unit | \`x\` |

<details>

<summary>Log</summary>

More<br>text

</details>`;

test('an ordinary note stays as it is', () => {
  expect(safe(ORDINARY)).toBe(ORDINARY.replace('3 < 4', '3 &lt; 4'));
});

test.each([
  ['a comment', 'a <!-- secret --> b', 'a   b'],
  ['a comment over lines', 'a <!--\nb -->', 'a &lt;!--\nb -->'],
  ['raw HTML', '<img src=x onerror=y> <script>', '&lt;img src=x onerror=y> &lt;script>'],
  ['an allowed tag with attributes', '<details onclick=x>', '&lt;details onclick=x>'],
  ['an image', '![x](https://evil.test/?q)', '&#33;[x]&#40;https:\u200b//evil.test/?q)'],
  ['a link to a script', '[x](javascript:alert)', '[x]&#40;javascript:alert)'],
  ['a link by reference', '[x][y]\n\n[y]: https://evil.test', '[x][y]\n\n[y]&#58; https:\u200b//evil.test'],
  ['a formula', 'costs $5', 'costs &#36;\u200b5'],
  ['an at sign in a link', 'https://npm.test/@scope/x', 'https://npm.test/%40scope/x'],
  ['a link to another host', '[x](https://evil.test)', '[x]&#40;https:\u200b//evil.test)'],
  ['an address of another host', 'see http://evil.test/x.', 'see http:\u200b//evil.test/x.'],
  ['an address without a scheme', 'www.evil.test', 'www\u200b.evil.test'],
  ['a mail address', 'me@evil.test', 'me@\u200bevil.test'],
  ['references', 'step #12 of !3', 'step #\u200b12 of !\u200b3'],
  ['the number of a line in a link', 'https://gitlab.test/a#12!3', 'https://gitlab.test/a#12!3'],
  ['colours of a terminal', '`\x1b[31;1mred\x1b[0m`', '`red`'],
  ['hidden characters', 'a\u200bb\u202ec\u{e0041}d\ufeffe\u2066f', 'abcdef'],
  ['characters that only look hidden', '👩‍🚀 ❤️ می‌خواهم क्‍ष', '👩‍🚀 ❤️ می‌خواهم क्‍ष'],
  ['a path at the start', '/usr/bin/env', '&#47;usr/bin/env'],
  ['front matter', '---\na: b\n---', '&#45;--\na: b\n---'],
  ['a drawing', '```mermaid\ngraph\n```', '```\ngraph\n```'],
  ['a fence in an item of a list', 'x\n- ```sh\n  ls\n  ```\ny', 'x\n\n-\n  ```sh\n  ls\n  ```\n\ny'],
  ['a fence that is an item of a list', '1. a\n2. ```\n   ls\n   ```', '1. a\n\n2.\n   ```\n   ls\n   ```'],
  ['a fence without end', 'a\n\n~~~~ sh x\nb', 'a\n\n~~~~sh\nb\n~~~~'],
  ['a section without end', '<details>\n\na', '<details>\n\na\n\n</details>'],
  ['code in a table', '| `a | b` |\n|--|--|', '| `a \\| b` |\n|--|--|'],
  ['backticks without a partner', 'a ` b', 'a &#96; b'],
  ['a word that closes beside an entity that is only text', '\\&#47;Closes', `&amp;#\u200b47;C\u200bloses`],
  ['half a character', 'a\ud800b', 'a\ufffdb'],
  ['nothing', ' \n\n', ''],
])('%s', (_what, text, expected) => {
  expect(safe(text)).toBe(expected);
});

test('a text that is too long is cut at a line, and says so', () => {
  const text = Array.from({ length: 100 }, (_, at) => `Line ${at}: ü`).join('\n');
  const cut = safe(text, 300);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(300);
  expect(cut).toMatch(/^Line 0: ü\n[\s\S]*\nLine \d+: ü\n\n\*The rest was cut: .* 300 bytes\.\*$/);
});

test('a fence and a section that are cut are closed', () => {
  const cut = safe(`<details>\n\n\`\`\`log\n${'a line\n'.repeat(100)}\`\`\`\n\n</details>`, 300);
  expect(cut).toMatch(/a line\n```\n\n<\/details>\n\n\*The rest was cut/);
});

test('one line that is too long is cut within', () => {
  const cut = safe('x '.repeat(10_000), 300);
  expect(cut).toMatch(/^x x [x ]{150,}\n\n\*The rest was cut/);
});

test('where not even the notice fits there is nothing', () => {
  expect(safe('x'.repeat(100), 20)).toBe('');
});

test('whatever the text, it fits, and a second time changes nothing but blanks', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 400 }), (text, maxBytes) => {
      const once = safe(text, maxBytes);
      expect(Buffer.byteLength(once)).toBeLessThanOrEqual(maxBytes);
      expect(withoutBlanks(safe(once, maxBytes))).toBe(withoutBlanks(once));
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  '`',
  '` ``',
  '<!--',
  '<!-- x',
  '@',
  '@a.',
  '&',
  '[',
  '](',
  '\\',
  '|',
  '-',
  '>',
  'http://',
  '</details',
  '```\n',
  '<details>\n',
  'closes ',
  ' ',
  '/',
])('a long text of %j takes no long time', (piece) => {
  const started = performance.now();
  safe(piece.repeat(200_000 / piece.length), 100_000);
  expect(performance.now() - started).toBeLessThan(3_000);
});

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
