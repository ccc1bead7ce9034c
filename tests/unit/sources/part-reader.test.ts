import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PermanentError } from '../../../src/errors.ts';
import { type OpenPart, PartReader } from '../../../src/sources/gitlab/part-reader.ts';

const MB = 1024 * 1024;

test('a store that sends more than it was asked for is left', async () => {
  const store = createEndlessStore();
  const reader = new PartReader(store.openPart, 100 * MB);

  const error = await read(reader, 0, 10).catch((cause: unknown) => cause);

  expect(error).toBeInstanceOf(PermanentError);
  expect(error).toHaveProperty(
    'message',
    'The part of the archive is larger than 1048576 bytes and was given up',
  );
  expect(store.sentBytes()).toBeLessThan(3 * MB);
});

test('a file that does not end is left where it should have ended', async () => {
  const store = createEndlessStore();
  const stream = new PartReader(store.openPart, 100 * MB)._readStreamForRange(0, 2 * MB);

  await expect(buffer(stream).then(({ length }) => length)).rejects.toBeInstanceOf(PermanentError);
  expect(store.sentBytes()).toBeLessThan(4 * MB);
});

test('a list of files that is too long is not read to its end', async () => {
  const openPart: OpenPart = async (first, last) => ({
    body: Readable.from([Buffer.alloc(last - first + 1)]),
    isPart: true,
  });
  const reader = new PartReader(openPart, 100 * MB);

  for (let block = 0; block < 32; block += 1) await read(reader, block * MB, 10);

  await expect(read(reader, 32 * MB, 10)).rejects.toThrow('too many files to list');
});

function read(reader: PartReader, position: number, length: number): Promise<void> {
  return promisify(reader.read.bind(reader))(Buffer.alloc(length), 0, length, position) as Promise<void>;
}

/** It ends after 50 MB all the same, so that a failing test does. */
function createEndlessStore() {
  let sent = 0;
  const chunks = function* () {
    for (; sent < 50 * MB; sent += 65_536) yield Buffer.alloc(65_536);
  };
  const openPart: OpenPart = async () => ({ body: Readable.from(chunks()), isPart: true });
  return { openPart, sentBytes: () => sent };
}
