// Reports of many megabytes: they are read, and the rest of the process goes on meanwhile.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, onTestFinished, test } from 'vitest';
import { JUNIT } from '../../../src/sources/gitlab/junit.ts';
import { type Reader, readInThread } from '../../../src/sources/reports/read-in-thread.ts';
import { XUNIT } from '../../../src/sources/testing-farm/xunit.ts';

const MAX_BLOCKED_MS = 400;
const CASES = 80_000;
const signal = new AbortController().signal;

const passing = '<testcase name="passes" result="passed" time="0.01" classname="a.b.ServiceTest"/>\n'.repeat(
  CASES,
);
const failing =
  '<testcase name="breaks" result="failed"><failure message="boom">at line 7</failure></testcase>';
const XML = `<testsuites><testsuite name="all" result="failed">${passing}${failing}</testsuite></testsuites>`;

test('7 MB of JUnit do not hold up the process', async () => {
  const { value, blockedMs } = await watch(JUNIT, XML);

  expect(value).toMatchObject({ total: CASES + 1, failed: 1, failed_tests: [{ name: 'breaks' }] });
  expect(blockedMs).toBeLessThan(MAX_BLOCKED_MS);
});

test('7 MB of xunit do not hold up the process, and of very many tests the failed ones are kept', async () => {
  const { value, blockedMs } = await watch(XUNIT, XML);

  expect(value).toMatchObject({
    totalTests: CASES + 1,
    failedTests: 1,
    leftOut: CASES,
    plans: [{ name: 'all', tests: [{ name: 'breaks', message: 'boom\nat line 7' }] }],
  });
  expect(blockedMs).toBeLessThan(MAX_BLOCKED_MS);
});

test.each([
  ['half of a report', XML.slice(0, -50), /^not whole XML/],
  ['no XML', 'x'.repeat(300_000), /^not whole XML/],
])('%s is refused in words, also from a thread', async (_, xml, words) => {
  await expect(readInThread(XUNIT, xml, signal)).rejects.toThrow(words);
});

test('whoever is aborted does not wait for it', async () => {
  const controller = new AbortController();
  const reason = new Error('a newer commit was pushed');

  const reading = readInThread(JUNIT, XML, controller.signal);
  controller.abort(reason);

  await expect(reading).rejects.toBe(reason);
});

async function watch<T>(reader: Reader<T>, xml: string) {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  onTestFinished(() => void delay.disable());
  delay.enable();
  const value = await readInThread(reader, xml, signal);
  delay.disable();
  return { value, blockedMs: delay.max / 1e6 };
}
