// Failed tests as a table, whoever reported them.
import { cutText } from '../cut-text.ts';

export interface TestCase {
  suite: string;
  classname: string;
  name: string;
  status: 'passed' | 'failed' | 'error' | 'skipped';
  file: string | null;
  seconds: number | null;
  message: string;
  /** How often it failed on the default branch lately, where GitLab counts that. */
  recentFailures?: { count: number; branch: string } | null;
}

const MAX_ROWS = 200;
const MAX_MESSAGE = 1_500;

export type FailedTests = ReturnType<typeof toFailedTests>;

export function toFailedTests(cases: readonly TestCase[]) {
  const failed = cases.filter(({ status }) => status === 'failed' || status === 'error');
  const count = (status: TestCase['status']) => cases.filter((one) => one.status === status).length;
  return withNote({
    total: cases.length,
    passed: count('passed'),
    failed: count('failed'),
    errors: count('error'),
    skipped: count('skipped'),
    failed_tests: failed.slice(0, MAX_ROWS).map(toRow),
  });
}

/** Those of several reports together. */
export function joinFailedTests(reports: readonly FailedTests[]): FailedTests {
  const sum = (key: 'total' | 'passed' | 'failed' | 'errors' | 'skipped') =>
    reports.reduce((total, report) => total + report[key], 0);
  return withNote({
    total: sum('total'),
    passed: sum('passed'),
    failed: sum('failed'),
    errors: sum('errors'),
    skipped: sum('skipped'),
    failed_tests: reports.flatMap(({ failed_tests }) => failed_tests).slice(0, MAX_ROWS),
  });
}

function withNote<T extends { failed: number; errors: number }>(tests: T): T & { note?: string } {
  const count = tests.failed + tests.errors;
  if (count <= MAX_ROWS) return tests;
  return { ...tests, note: `Only the first ${MAX_ROWS} of ${count} failed tests are here.` };
}

function toRow({ suite, classname, name, status, file, seconds, message, recentFailures }: TestCase) {
  return {
    suite,
    // Many reporters say the same twice.
    ...(classname !== '' && classname !== suite && { classname }),
    name,
    ...(status === 'error' && { status }),
    ...(file && { file }),
    seconds,
    message: cutText(message.trim(), MAX_MESSAGE, 'the message'),
    ...(recentFailures && {
      recent_failures: `${recentFailures.count} times in 14 days on ${recentFailures.branch}`,
    }),
  };
}
