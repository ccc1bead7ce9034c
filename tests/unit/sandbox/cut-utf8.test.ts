import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutUtf8 } from '../../../src/sandbox/virtual/cut-utf8.ts';

test('text that fits is left alone', () => {
  expect(cutUtf8('äöü', 6)).toEqual({ text: 'äöü', truncated: false });
});

test.each([
  ['äöü', 5, 'äö'],
  ['a€b', 3, 'a'],
  ['a😀', 4, 'a'],
  ['😀😀', 5, '😀'],
  ['abc', 0, ''],
])('%s cut to %i bytes is %j', (text, maxBytes, expected) => {
  expect(cutUtf8(text, maxBytes)).toEqual({ text: expected, truncated: true });
});

test('what is left of any text is its beginning, and as much of it as fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, maxBytes) => {
      const cut = cutUtf8(text, maxBytes);
      expect(text.startsWith(cut.text)).toBe(true);
      expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(maxBytes);
      const [next = ''] = text.slice(cut.text.length);
      expect(cut.truncated).toBe(next !== '');
      if (next) expect(Buffer.byteLength(cut.text + next)).toBeGreaterThan(maxBytes);
    }),
  );
});
