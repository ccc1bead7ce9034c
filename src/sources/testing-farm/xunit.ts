// The results that Testing Farm writes: JUnit's form with more in it, a suite for each plan, a case for each test.
import { z } from 'zod';
import { cutText } from '../cut-text.ts';
import { checkWire } from '../from-wire.ts';
import type { Reader } from '../reports/read-in-thread.ts';
import { parseReport, problems, toMessage, toSeconds, text as word } from '../reports/report-xml.ts';

export interface Plan {
  name: string;
  result: string;
  /** Of the environment that was asked for, where the plan says it. */
  arch: string | null;
  compose: string | null;
  logs: Log[];
  tests: Test[];
}

export interface Test {
  name: string;
  result: string;
  seconds: number | null;
  /** What JUnit's elements say of a failure. */
  message: string | null;
  logs: Log[];
}

export interface Log {
  name: string;
  href: string;
}

export interface Results {
  overall: string | null;
  plans: Plan[];
  totalTests: number;
  failedTests: number;
  /** How many of the tests are not among the plans, because there are too many. */
  leftOut: number;
}

/** Throws PermanentError for what is not as it should be. */
export function readXunit(xml: string): Results {
  const parsed = parseReport(xml, LISTS);
  const root = checkWire(wireRoot, parsed, { who: 'Testing Farm', what: 'the results' });
  const suites = root.testsuites === '' ? undefined : root.testsuites;
  const plans = (suites?.testsuite ?? []).map((suite) => (suite === '' ? toPlan({}) : toPlan(suite)));
  const tests = plans.flatMap((plan) => plan.tests);
  const shown = tests.length > MAX_TESTS ? keepWorst(plans) : plans;
  return {
    overall: suites?.['@overall-result'] ?? null,
    plans: shown,
    totalTests: tests.length,
    failedTests: tests.filter(isBad).length,
    leftOut: tests.length - shown.flatMap((plan) => plan.tests).length,
  };
}

export const XUNIT: Reader<Results> = {
  read: readXunit,
  module: new URL(import.meta.url),
  name: readXunit.name,
};

export function isBad({ result }: { result: string }): boolean {
  return !['passed', 'skipped', 'info', 'pending'].includes(result);
}

const MAX_TESTS = 2_000;

/** Of very many tests, those that failed. */
function keepWorst(plans: readonly Plan[]): Plan[] {
  let room = MAX_TESTS;
  return plans.map((plan) => {
    const tests = plan.tests.filter(isBad).slice(0, room);
    room -= tests.length;
    return { ...plan, tests };
  });
}

const LISTS = new Set([
  'testsuite',
  'testcase',
  'log',
  'property',
  'testing-environment',
  'failure',
  'error',
]);

/** An element without attributes and children is an empty text. */
function element<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.union([z.literal(''), z.object(shape)]);
}

const text = word.optional();
const wireLogs = element({ log: z.array(element({ '@href': text, '@name': text })).optional() }).optional();
const wireProperties = z.array(element({ '@name': text, '@value': text })).optional();

const wireCase = element({
  '@name': text,
  '@result': text,
  '@time': text,
  logs: wireLogs,
  failure: problems,
  error: problems,
});

const wireSuite = element({
  '@name': text,
  '@result': text,
  logs: wireLogs,
  testcase: z.array(wireCase).optional(),
  'testing-environment': z.array(element({ '@name': text, property: wireProperties })).optional(),
});

const wireRoot = z.object({
  testsuites: element({ '@overall-result': text, testsuite: z.array(wireSuite).optional() }),
});

function toPlan(suite: Exclude<z.infer<typeof wireSuite>, ''>): Plan {
  const environment = suite['testing-environment']?.find((one) => one !== '' && one['@name'] === 'requested');
  const properties = environment === '' ? [] : (environment?.property ?? []);
  const property = (name: string) =>
    properties.flatMap((one) => (one !== '' && one['@name'] === name ? [one['@value'] ?? ''] : []))[0] ??
    null;
  const tests = (suite.testcase ?? []).flatMap((one) => (one === '' ? [] : [toTest(one)]));
  return {
    name: suite['@name'] ?? '',
    // A plan of an error that came early has none of its own.
    result: normalize(suite['@result'] ?? tests.find(({ result }) => result !== 'passed')?.result),
    arch: property('arch'),
    compose: property('compose'),
    logs: toLogs(suite.logs),
    tests,
  };
}

function toTest(one: Exclude<z.infer<typeof wireCase>, ''>): Test {
  const found = [...(one.failure ?? []), ...(one.error ?? [])];
  return {
    name: one['@name'] ?? '',
    result: normalize(one['@result'] ?? (found.length === 0 ? undefined : 'failed')),
    seconds: toSeconds(one['@time']),
    message: cutText(toMessage(found), MAX_MESSAGE, 'the message') || null,
    logs: toLogs(one.logs),
  };
}

const MAX_MESSAGE = 4_000;

function toLogs(logs: z.infer<typeof wireLogs>): Log[] {
  if (logs === undefined || logs === '') return [];
  return (logs.log ?? []).flatMap((log) =>
    log === '' || !log['@href'] ? [] : [{ name: log['@name'] ?? 'log', href: log['@href'] }],
  );
}

/** Older tests say PASS and FAIL. */
const OLDER = new Map([
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['skip', 'skipped'],
]);

function normalize(result: string | undefined): string {
  const word = (result ?? 'undefined').toLowerCase();
  return OLDER.get(word) ?? word;
}
