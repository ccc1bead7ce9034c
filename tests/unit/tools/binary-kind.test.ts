import { buffer } from 'node:stream/consumers';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { findBinaryKind } from '../../../src/tools/binary-kind.ts';

/** Bytes as they are, and as the output of a command in each sandbox. */
const FORMS: [string, (bytes: Buffer) => Buffer | string][] = [
  ['bytes', (bytes) => bytes],
  ['text of the Docker sandbox', (bytes) => bytes.toString()],
  ['text of the virtual sandbox', (bytes) => bytes.toString('latin1')],
];

const ALL_BYTES_BUT_NUL = Buffer.from(Array.from({ length: 255 }, (_, index) => index + 1));
const TAR = await tarOf('größe.txt');

describe.each(FORMS)('as %s', (_, toForm) => {
  test.each([
    ['gzip', gzipSync('a log')],
    ['zstd', zstdCompressSync(Buffer.from('a log'))],
    ['zip', Buffer.from('504b0304140000000800', 'hex')],
    ['xz', Buffer.from('fd377a585a000004e6d6', 'hex')],
    ['bzip2', Buffer.from('425a6839314159265359', 'hex')],
    ['tar', TAR],
    ['png', Buffer.from('89504e470d0a1a0a0000', 'hex')],
    ['elf', Buffer.from('7f454c460201010000', 'hex')],
    ['pdf', Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')],
    ['sqlite', Buffer.from('SQLite format 3\0\x10\0')],
    ['unknown kind', Buffer.from('more \0\0\0\0\0 than text\0\0\0\0\0\0')],
    ['unknown kind', Buffer.from('UTF-16', 'utf16le')],
    ['unknown kind', ALL_BYTES_BUT_NUL],
  ])('%s is known', (name, bytes) => {
    expect(findBinaryKind(toForm(bytes))?.name).toBe(name);
  });

  test.each([
    ['nothing', Buffer.of()],
    ['a broken character', Buffer.from('caf\xe9', 'latin1')],
    ['another encoding', Buffer.from('Die Größe der Datei paßt nicht, sie müßte kleiner sein.\n', 'latin1')],
    ['colours and progress', Buffer.from('\x1b[31mERROR\x1b[0m\r\x1b[2K 5%\b\b6%\x07\f\v\n')],
    ['the word ustar', Buffer.from('the magic of tar is ustar\n')],
    ['a NUL that comes late', Buffer.from(`${'x'.repeat(9_000)}\0`)],
  ])('a text with %s is a text', (_what, bytes) => {
    expect(findBinaryKind(toForm(bytes))).toBeNull();
  });
});

test('a NUL among text makes a stream binary, but not what a command prints', () => {
  const names = './a\0./b c\0./größe.txt\0';

  expect(findBinaryKind(Buffer.from(names))?.name).toBe('unknown kind');
  expect(findBinaryKind(names)).toBeNull();
  expect(findBinaryKind('a\0b c')).toBeNull();
});

test('no text that a person can read is binary', () => {
  // Graphemes: letters of all kinds, emoji, punctuation, but no control characters.
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 500 }), (text) => {
      expect(findBinaryKind(text)).toBeNull();
      expect(findBinaryKind(Buffer.from(text))).toBeNull();
    }),
  );
});

function tarOf(name: string): Promise<Buffer> {
  const tar = pack();
  tar.entry({ name }, 'content');
  tar.finalize();
  return buffer(tar);
}
