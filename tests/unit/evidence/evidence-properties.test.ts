import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleanLine } from '../../../src/evidence/clean-line.ts';
import { rowsOf, show } from './show.ts';

const word = fc.constantFrom(
  'error',
  'FAIL',
  'ok',
  'Exception',
  ':',
  '1:2:',
  'at',
  '\u001b[31m',
  '\r',
  '\t',
  '  ',
  'x'.repeat(700),
  'ü€😀',
  '0 errors',
  'section_end:12:step_script\r',
  '[a : b]',
  '##[error]',
  '2025-06-03T10:22:11.1234567Z',
  'The command "x" exited with 1.',
  '…',
  '|',
  '42|',
);
const line = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
const log = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\n', '\n', '\r\n', '\n\n'), fc.integer({ min: 1, max: 4 })), {
    maxLength: 60,
  })
  .map((lines) => lines.map(([text, end, times]) => (text + end).repeat(times)).join(''));
/** Before it, as much as brings some of it to the other side of a block's end. */
const before = fc
  .integer({ min: 0, max: 800 })
  .map((left) => `${'.'.repeat(127)}\n`.repeat(511) + '.'.repeat(left));
const size = fc.integer({ min: 1, max: 6_000 });

test('whatever the log, what is shown fits, is made of its lines with their numbers, and is the same again', () => {
  fc.assert(
    fc.property(
      fc.option(before, { nil: '' }),
      log,
      size,
      fc.integer({ min: 1, max: 5_000 }),
      (start, end, maxBytes, chunkBytes) => {
        const text = start + end;
        const shown = show(text, { maxBytes });
        expect(Buffer.byteLength(shown.text)).toBeLessThanOrEqual(maxBytes);
        const lines = text.split('\n');
        let before = 0;
        for (const [number, row] of rowsOf(shown.text)) {
          expect(number).toBeGreaterThan(before);
          before = number;
          const [head = ''] = row.replace(/ \[\d+ times\]$/, '').split(/ \[… \d+ bytes\] /);
          expect(lines[number - 1]).toBeDefined();
          expect(cleanLine(lines[number - 1] ?? '')).toContain(head.trimEnd());
        }
        for (const [from, to] of shown.ranges) {
          expect(from).toBeGreaterThan(0);
          expect(to).toBeGreaterThanOrEqual(from);
          expect(to).toBeLessThanOrEqual(lines.length);
        }
        expect(show(text, { maxBytes, chunkBytes }).text).toBe(shown.text);
      },
    ),
    { numRuns: 500 },
  );
});

test('any bytes are taken', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), size, (bytes, maxBytes) => {
      expect(Buffer.byteLength(show(bytes, { maxBytes }).text)).toBeLessThanOrEqual(maxBytes);
    }),
    { numRuns: 300 },
  );
});

const MB = 1024 * 1024;
test.each<[string, () => string | Uint8Array]>([
  ['random bytes', () => randomBytes(20 * MB)],
  ['zeros', () => Buffer.alloc(20 * MB)],
  ['one line', () => `error: ${'a b '.repeat((50 * MB) / 4)}`],
  ['one line of nothing but openings', () => `${'[('.repeat(25 * MB)}`],
  ['a million equal lines', () => 'error: no\n'.repeat(1_000_000)],
  [
    'a million different errors',
    () => Array.from({ length: 1_000_000 }, (_, at) => `error: ${at}`).join('\n'),
  ],
  ['a million empty lines', () => '\n'.repeat(1_000_000)],
  ['lines of spaces', () => `${' '.repeat(20_000)}x\n`.repeat(500)],
  ['lines of digits and points', () => `${'1.'.repeat(5_000)}\n`.repeat(500)],
  ['lines of words that begin like an exception', () => `${'Aa.'.repeat(4_000)}\n`.repeat(500)],
  ['lines of digits', () => `${'1'.repeat(8_000)}\n`.repeat(500)],
  ['lines of quotes', () => `  File "${'a'.repeat(8_000)}\n`.repeat(500)],
  ['colours without end', () => '\u001b[31'.repeat(4 * MB)],
  ['progress on one line', () => `${'10 %\r'.repeat(4 * MB)}done\n`],
  ['line ends of all kinds', () => 'a\r\nb\rc\n\rd\n'.repeat(300_000)],
])('of %s something is shown, and soon', (_, make) => {
  const { text } = show(make());
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
  expect(text).not.toBe('');
});
