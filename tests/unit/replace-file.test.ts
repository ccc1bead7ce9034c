import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceFile } from '../../src/replace-file.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hummingbird-replace-'));
});
afterEach(() => rm(dir, { recursive: true }));

test('the old content is there until the new one is whole', async () => {
  const path = join(dir, 'file');
  await writeFile(path, 'old');
  const content = new PassThrough({ highWaterMark: 1 });
  const replacing = replaceFile(path, content);
  content.write('new, first half');
  await once(content, 'drain');
  expect(await readFile(path, 'utf8')).toBe('old');
  content.end(', second half');
  await replacing;
  expect(await readFile(path, 'utf8')).toBe('new, first half, second half');
  expect(await readdir(dir)).toEqual(['file']);
});

test('a stream that ends too early is an error, and the old content stays', async () => {
  const path = join(dir, 'file');
  await writeFile(path, 'old');
  const content = new PassThrough();
  const replacing = expect(replaceFile(path, content)).rejects.toThrow(/[Pp]remature/);
  content.write('half');
  content.destroy();
  await replacing;
  expect(await readFile(path, 'utf8')).toBe('old');
  expect(await readdir(dir)).toEqual(['file']);
});

test('a folder that is not there is an error', async () => {
  await expect(replaceFile(join(dir, 'none', 'file'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
});
