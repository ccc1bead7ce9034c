import { expect, test } from 'vitest';
import {
  changeFiles,
  diffFiles,
  type FileEntry,
  toStoredFile,
} from '../../../src/sandbox/virtual/file-entry.ts';
import { toOwnChanges } from '../../../src/sandbox/virtual/shell-message.ts';

test('a small file out of a large message does not keep the message', () => {
  const message = Buffer.alloc(1_000_000, 'x');
  const [change] = toOwnChanges([{ path: '/f', entry: toStoredFile(message.subarray(10, 20)) }]);
  const entry = change?.entry;
  expect(entry?.kind === 'file' && Buffer.from(entry.bytes).toString()).toBe('xxxxxxxxxx');
  expect(entry?.kind === 'file' && entry.bytes.buffer.byteLength).toBe(10);
});

test('a removal stays a removal', () => {
  expect(toOwnChanges([{ path: '/f', entry: null }])).toEqual([{ path: '/f', entry: null }]);
});

test('what differs between two maps of files makes the one into the other', () => {
  const same = toStoredFile(Buffer.from('same'));
  const before = new Map<string, FileEntry>([
    ['/same', same],
    ['/gone', toStoredFile(Buffer.from('gone'))],
    ['/other', toStoredFile(Buffer.from('old'))],
  ]);
  const after = new Map<string, FileEntry>([
    ['/same', same],
    ['/other', toStoredFile(Buffer.from('new'))],
    ['/new', { kind: 'folder' }],
  ]);
  const changes = diffFiles(before, after);
  expect(changes.map((change) => change.path)).toEqual(['/gone', '/other', '/new']);
  expect(changeFiles(before, changes)).toEqual(after);
});
