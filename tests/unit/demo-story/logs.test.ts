import { describe, expect, test } from 'vitest';
import { readLine, writeBaselineLogs, writeStoryLogs } from '../../../src/demo/story/logs.ts';

const FRAME = { startedAt: new Date('2026-03-03T09:00:00Z'), sha: '5ca1ab1e'.repeat(5) };
const logs = writeStoryLogs(FRAME);

test.each(['unitTests', 'integrationTests', 'e2eSmokeFirstTry'] as const)(
  'the failed %s has a log of 200 KB and more, with colours, marks, progress bars and harmless errors',
  (key) => {
    const { text } = logs[key];

    expect(Buffer.byteLength(text)).toBeGreaterThan(200 * 1024);
    expect(text).toContain('\u001b[32m');
    expect(text).toMatch(sectionMark('start'));
    expect(text).toMatch(sectionMark('end'));
    expect(text).toMatch(/=>[^\n]*\r[^\n]*==>/);
    expect(text).toContain('npm\u001b[22m \u001b[33mwarn');
    expect(text).toMatch(/DeprecationWarning|ExperimentalWarning/);
    expect(text.trimEnd()).toMatch(/ERROR: Job failed: exit code 1\S*$/);
  },
);

test('the other logs are smaller', () => {
  for (const { text } of [logs.lint, logs.compile, logs.e2eSmoke, logs.docsSpelling]) {
    expect(Buffer.byteLength(text)).toBeLessThan(100 * 1024);
  }
});

test('there are thousands of tests that pass, some with an error in their name', () => {
  const passed = logs.unitTests.text.split('\n').filter((line) => line.includes('✓'));

  expect(passed.length).toBe(2_500);
  expect(passed.some((line) => line.includes('error'))).toBe(true);
});

describe('the lines that matter are where the log says', () => {
  test.each([
    ['failedTest', '× tests/unit/pricing/cart-total.test.ts > cart total > rounds half a cent of tax up 9ms'],
    ['assertion', 'AssertionError: expected 1512 to be 1513 // Object.is equality'],
    ['expected', '- 1513'],
    ['received', '+ 1512'],
    ['location', '❯ tests/unit/pricing/cart-total.test.ts:48:31'],
    ['outcome', 'ERROR: Job failed: exit code 1'],
  ] as const)('%s of the unit tests', (key, text) => {
    expect(readLine(logs.unitTests, logs.unitTests.lines[key]).trim()).toBe(text);
  });

  test.each([
    ['mismatch', 'order total 1512 differs from the 1513 that the ledger computed'],
    ['assertion', 'AssertionError: expected 422 to be 201'],
    ['location', '❯ tests/integration/checkout-api.test.ts:87:33'],
    ['outcome', 'ERROR: Job failed: exit code 1'],
  ] as const)('%s of the integration tests', (key, text) => {
    expect(readLine(logs.integrationTests, logs.integrationTests.lines[key])).toContain(text);
  });

  test.each([
    ['stall', 'paused for 41 s'],
    ['timeout', 'Test timeout of 30000ms exceeded.'],
    ['connection', 'net::ERR_CONNECTION_TIMED_OUT'],
    ['location', 'tests/e2e/smoke.spec.ts:34:16'],
    ['outcome', 'ERROR: Job failed: exit code 1'],
  ] as const)('%s of the smoke test', (key, text) => {
    expect(readLine(logs.e2eSmokeFirstTry, logs.e2eSmokeFirstTry.lines[key])).toContain(text);
  });

  test('and the failure stands far from both ends', () => {
    const { text, lines } = logs.unitTests;
    const count = text.split('\n').length;

    expect(lines.assertion).toBeGreaterThan(count * 0.25);
    expect(lines.assertion).toBeLessThan(count * 0.85);
  });
});

test('the same start and commit give the same text', () => {
  expect(writeStoryLogs(FRAME)).toEqual(logs);
});

test('the lines stay where they are at another time', () => {
  const later = writeStoryLogs({ ...FRAME, startedAt: new Date('2027-11-11T11:11:11Z') });

  expect(later.unitTests.lines).toEqual(logs.unitTests.lines);
  expect(later.integrationTests.text).not.toBe(logs.integrationTests.text);
});

test('the smoke test knows nothing of the rounding, and the default branch has no failure', () => {
  expect(logs.e2eSmokeFirstTry.text).not.toMatch(/LedgerMismatch|AssertionError/);
  for (const { text } of Object.values(writeBaselineLogs(FRAME))) {
    expect(text).toContain('Job succeeded');
    expect(text).not.toMatch(/LedgerMismatch|AssertionError|Job failed/);
  }
});

function sectionMark(kind: 'start' | 'end'): RegExp {
  return new RegExp(`section_${kind}:\\d{10}:step_script\\r\u001b\\[0K`);
}
