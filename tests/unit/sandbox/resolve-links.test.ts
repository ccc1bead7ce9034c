import { expect, test } from 'vitest';
import type { FileEntry } from '../../../src/sandbox/virtual/file-entry.ts';
import { resolveLinks } from '../../../src/sandbox/virtual/resolve-links.ts';

const files = new Map<string, FileEntry>([
  ['/tmp', { kind: 'folder' }],
  ['/tmp/data', { kind: 'folder' }],
  ['/tmp/absolute', { kind: 'link', target: '/tmp/data' }],
  ['/tmp/relative', { kind: 'link', target: 'data' }],
  ['/tmp/data/up', { kind: 'link', target: '../relative' }],
  ['/tmp/above', { kind: 'link', target: '../../../..' }],
  ['/tmp/one', { kind: 'link', target: 'other' }],
  ['/tmp/other', { kind: 'link', target: 'one' }],
]);

test.each([
  ['/tmp/data/f', '/tmp/data/f'],
  ['/tmp/absolute/f', '/tmp/data/f'],
  ['/tmp/relative', '/tmp/data'],
  ['/tmp/relative/up/up/f', '/tmp/data/f'],
  ['/tmp/above/tmp', '/tmp'],
  ['/', '/'],
  ['/tmp/one/f', null],
])('%s leads to %s', (path, expected) => {
  expect(resolveLinks(files, path)).toBe(expected);
});
