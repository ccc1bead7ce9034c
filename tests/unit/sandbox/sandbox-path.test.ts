import { expect, test } from 'vitest';
import { foldersAbove } from '../../../src/sandbox/sandbox-path.ts';
import { toSandboxPath } from '../../../src/sandbox/virtual/sandbox-path.ts';

test.each([
  ['/tmp/a', '/tmp/a'],
  ['/tmp//a/./b/', '/tmp/a/b'],
  ['/tmp/../../../etc', '/etc'],
  ['/', '/'],
  ['/..', '/'],
])('%s is %s', (path, expected) => {
  expect(toSandboxPath(path)).toBe(expected);
});

test.each(['', 'tmp/a', './a', '../a', '/tmp/\0', '/bin', '/bin/ls', '/dev/null', '/tmp/../proc/self'])(
  '%j is refused',
  (path) => {
    expect(() => toSandboxPath(path)).toThrow();
  },
);

test('a folder that only begins like one of the shell is fine', () => {
  expect(toSandboxPath('/binary/x')).toBe('/binary/x');
});

test('the folders above a path are named from the top', () => {
  expect(foldersAbove('/tmp/a/b')).toEqual(['/tmp', '/tmp/a']);
  expect(foldersAbove('/tmp')).toEqual([]);
});
