// JUnit's XML, which every test tool writes a little differently.
import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import type { Reader } from '../reports/read-in-thread.ts';
import { parseReport, problems, text, toMessage, toSeconds } from '../reports/report-xml.ts';
import { type FailedTests, type TestCase, toFailedTests } from './failed-tests.ts';

/** What a report says, or null when it is none. Throws when it is no whole XML, or not as JUnit's is. */
export function readJunit(xml: string): FailedTests | null {
  const cases = parseJunit(xml);
  return cases && toFailedTests(cases);
}

export const JUNIT: Reader<FailedTests | null> = {
  read: readJunit,
  module: new URL(import.meta.url),
  name: readJunit.name,
};

/** The cases of a report, or null when it is none. */
export function parseJunit(xml: string): TestCase[] | null {
  const root = parseReport(xml, LISTS);
  if (!isReport(root)) return null;
  const checked = document.safeParse(root);
  if (!checked.success) throw new PermanentError("is not as JUnit's XML is", { cause: checked.error });
  const { testsuites = [], testsuite = [] } = checked.data;
  return [...testsuites, ...testsuite].flatMap((one) => collectCases(one, ''));
}

function isReport(root: unknown): boolean {
  return typeof root === 'object' && root !== null && ('testsuites' in root || 'testsuite' in root);
}

const LISTS = new Set(['testsuites', 'testsuite', 'testcase', 'failure', 'error', 'rerunFailure', 'skipped']);

// An element without attributes and children is a text, mostly an empty one.
const bare = z.string().transform((): Case & Suite => ({}));

const attributesOfCase = z.object({
  '@name': text.optional(),
  '@classname': text.optional(),
  '@file': text.optional(),
  '@time': z.string().optional(),
  failure: problems,
  error: problems,
  skipped: z.array(z.unknown()).optional(),
});

type Case = z.infer<typeof attributesOfCase>;

const testcase = z.union([bare, attributesOfCase]);

interface Suite {
  '@name'?: string | undefined;
  testsuite?: Suite[] | undefined;
  testcase?: Case[] | undefined;
}

const suite: z.ZodType<Suite> = z.lazy(() =>
  z.union([
    bare,
    z.object({
      '@name': text.optional(),
      testsuite: z.array(suite).optional(),
      testcase: z.array(testcase).optional(),
    }),
  ]),
);

const document = z.object({
  testsuites: z.array(suite).optional(),
  testsuite: z.array(suite).optional(),
});

function collectCases(one: Suite, parent: string): TestCase[] {
  const name = one['@name'] ?? parent;
  return [
    ...(one.testcase ?? []).map((each) => fromCase(each, name)),
    ...(one.testsuite ?? []).flatMap((inner) => collectCases(inner, name)),
  ];
}

function fromCase(one: Case, suiteName: string): TestCase {
  return {
    suite: suiteName,
    classname: one['@classname'] ?? '',
    name: one['@name'] ?? '',
    status: one.failure ? 'failed' : one.error ? 'error' : one.skipped ? 'skipped' : 'passed',
    file: one['@file'] ?? null,
    seconds: toSeconds(one['@time']),
    message: toMessage([...(one.failure ?? []), ...(one.error ?? [])]),
  };
}
