import { describe, expect, test } from 'vitest';
import { cutWords } from '../../src/cut-words.ts';

const SECRET = 'Own-s3cret/With+signs&50%';

describe('what is cut ends with a whole secret or none of it, wherever it is cut', () => {
  test.each([
    ['in a sentence', `it was refused with ${SECRET} by the registry of the team`],
    ['at the end of a line', `it was refused\nwith ${SECRET}\nby the registry`],
    ['in JSON without blanks', `{"names":["registry"],"login":{"password":"${SECRET}","user":"app"}}`],
    ['behind a long text without blanks', `${'{"a":1},'.repeat(500)}"${SECRET}"`],
  ])('%s', (_, text) => {
    const before = text.slice(0, text.indexOf(SECRET));
    for (let at = before.length + 1; at < before.length + SECRET.length; at += 1)
      expect(before.startsWith(cutWords(text, at))).toBe(true);
    expect(cutWords(text, before.length + SECRET.length)).toContain(SECRET);
  });
});

test.each([
  ['what is short enough is whole', 'one two', 7, 'one two'],
  ['a word that just fits stays', 'one two three', 7, 'one two'],
  ['one that does not is left out', 'one two three', 10, 'one two'],
  ['a text of one word is cut within it', 'abcdefgh', 3, 'abc'],
  ['but between characters', `abc${'🐦'.repeat(9)}`, 4, 'abc'],
])('%s', (_, text, maxChars, expected) => {
  expect(cutWords(text, maxChars)).toBe(expected);
});
