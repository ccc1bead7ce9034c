// The threat model names what is there: files, tests, and every control that an attack was tried against.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CORPUS } from './corpus.ts';

const ROOT = join(import.meta.dirname, '../..');
const text = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8');

test('names files that exist', () => {
  const named = [...text.matchAll(/`((?:src|tests|docs|scripts)\b[\w./-]*)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('gives every threat a test', () => {
  const rows = text
    .split('\n')
    .filter((line) => line.split('|').length === 6 && !/^\|(?:---| threat )/.test(line));
  expect(rows.length).toBeGreaterThan(15);
  expect(rows.filter((row) => !row.includes('`tests/'))).toEqual([]);
});

test('names the controls of the corpus, and no other', () => {
  const named = [...text.matchAll(/(?<![\w*])\*([^*\n]+)\*(?!\*)/g)].map(([, name = '']) => name);
  const tried = CORPUS.flatMap(({ control }) => control);
  expect(new Set(named.filter((name) => name !== 'italics'))).toEqual(new Set(tried));
});
