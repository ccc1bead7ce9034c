import { expect, test } from 'vitest';
import { SandboxFullError } from '../../../src/sandbox/sandbox.ts';
import { toStoredFile } from '../../../src/sandbox/virtual/file-entry.ts';
import { createFileTree, type FileTree } from '../../../src/sandbox/virtual/file-tree.ts';

test('a file brings its folders', () => {
  const tree = treeOf('/a/b/c');
  expect([...tree.files().keys()].sort()).toEqual(['/a', '/a/b', '/a/b/c']);
});

test('changes that do not fit change nothing', () => {
  const tree = treeOf('/a');
  const changes = [
    { path: '/a', entry: null },
    { path: '/b', entry: file(101) },
  ];
  expect(() => tree.apply(changes)).toThrow(SandboxFullError);
  expect([...tree.files().keys()]).toEqual(['/a']);
});

test('more files and folders than may be do not fit, be they empty', () => {
  const tree = treeOf();
  const changes = Array.from({ length: 11 }, (_, index) => ({ path: `/${index}`, entry: file(0) }));
  expect(() => tree.apply(changes)).toThrow(SandboxFullError);
  tree.apply(changes.slice(1));
  expect(tree.files().size).toBe(10);
});

test('a file that came into a folder while a command removed it keeps the folder', () => {
  const tree = treeOf('/data/new');
  tree.apply([{ path: '/data', entry: null }]);
  expect([...tree.files().keys()].sort()).toEqual(['/data', '/data/new']);
});

test('a file that came into a folder while a command made it a file is gone', () => {
  const tree = treeOf('/data/new');
  tree.apply([{ path: '/data', entry: file(1) }]);
  expect([...tree.files().keys()]).toEqual(['/data']);
});

test('a file can not be put where a folder is, nor below a file', () => {
  const tree = treeOf('/a/b');
  expect(() => tree.put('/a', file(1))).toThrow('A folder, not a file: /a');
  expect(() => tree.put('/a/b/c', file(1))).toThrow('A file, not a folder: /a/b');
  expect(() => tree.put('/', file(1))).toThrow('A folder');
});

test('files taken earlier are as they were', () => {
  const tree = treeOf('/a');
  const before = tree.files();
  tree.put('/b', file(1));
  expect([...before.keys()]).toEqual(['/a']);
});

function treeOf(...paths: string[]): FileTree {
  const tree = createFileTree({ maxBytes: 100, maxFiles: 10 });
  for (const path of paths) tree.put(path, file(1));
  return tree;
}

function file(size: number) {
  return toStoredFile(Buffer.alloc(size));
}
