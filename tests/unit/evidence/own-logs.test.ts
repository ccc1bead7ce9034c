// Logs in the manner of many tools and CI systems, with the lines that a good engineer would quote.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLabelledLogs, scoreShown, toNumbers } from '../../fixtures/labelled-logs.ts';
import { show } from './show.ts';

const logs = readLabelledLogs(join(import.meta.dirname, '../../fixtures/logs'));
const scores = logs.map((log) => ({ id: log.id, ...scoreShown(log, toNumbers(show(log.bytes).ranges)) }));

test('there are logs of many tools and CI systems', () => {
  expect(logs.length).toBeGreaterThanOrEqual(50);
  expect(new Set(logs.map(({ group }) => group)).size).toBeGreaterThanOrEqual(40);
});

test('at 4 KB nearly all of the lines that explain the failure are shown', () => {
  const mean = scores.reduce((sum, { share }) => sum + share, 0) / scores.length;
  expect(mean).toBeGreaterThan(0.93);
});

test('the first of them is shown of all but one: there a warning brings about thirty errors', () => {
  const missed = scores.filter(({ first }) => first === 0).map(({ id }) => id);
  expect(missed).toEqual(['dotnet-generator-failed']);
});
