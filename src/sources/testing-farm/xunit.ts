// The results that Testing Farm writes: JUnit's form with more in it, a suite for each plan, a case for each test.
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import { checkWire } from '../from-wire.ts';

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

export function readXunit(xml: string, who: string): { overall: string | null; plans: Plan[] } {
  const root = checkWire(wireRoot, parse(xml, who), { who, what: 'the results (xunit)' });
  const suites = root.testsuites === '' ? undefined : root.testsuites;
  return {
    overall: suites?.['@overall-result'] ?? null,
    plans: (suites?.testsuite ?? []).map((suite) => (suite === '' ? toPlan({}) : toPlan(suite))),
  };
}

const LISTS = new Set(['testsuite', 'testcase', 'log', 'property', 'testing-environment']);

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseAttributeValue: false,
  parseTagValue: false,
  isArray: (name) => LISTS.has(name),
  // Entities of a file's own could make much of little.
  processEntities: { enabled: true, maxTotalExpansions: 100_000, maxExpandedLength: 10_000_000 },
});

function parse(xml: string, who: string): unknown {
  // The parser itself takes half a file without a word.
  const validity = XMLValidator.validate(xml);
  if (validity !== true)
    throw new PermanentError(`${who}: the results (xunit) are not whole XML: ${validity.err.msg}`);
  try {
    return parser.parse(xml);
  } catch (cause) {
    throw new PermanentError(`${who}: the results (xunit) can not be read`, { cause });
  }
}

/** An element without attributes and children is an empty text. */
function element<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.union([z.literal(''), z.object(shape)]);
}

const text = z.string().optional();
const wireLogs = element({ log: z.array(element({ '@href': text, '@name': text })).optional() }).optional();
const wireProperties = z.array(element({ '@name': text, '@value': text })).optional();
const wireTrouble = z.union([z.string(), z.object({ '@message': text, '#text': text })]);

const wireCase = element({
  '@name': text,
  '@result': text,
  '@time': text,
  logs: wireLogs,
  failure: z.union([wireTrouble, z.array(wireTrouble)]).optional(),
  error: z.union([wireTrouble, z.array(wireTrouble)]).optional(),
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
  const seconds = Number(one['@time'] ?? Number.NaN);
  const trouble = [one.failure, one.error].flat().find((found) => found !== undefined);
  return {
    name: one['@name'] ?? '',
    result: normalize(one['@result'] ?? (trouble === undefined ? undefined : 'failed')),
    seconds: Number.isNaN(seconds) ? null : seconds,
    message: toMessage(trouble),
    logs: toLogs(one.logs),
  };
}

function toMessage(trouble: z.infer<typeof wireTrouble> | undefined): string | null {
  if (trouble === undefined) return null;
  if (typeof trouble === 'string') return trouble || null;
  return [trouble['@message'], trouble['#text']].filter(Boolean).join('\n') || null;
}

function toLogs(logs: z.infer<typeof wireLogs>): Log[] {
  if (logs === undefined || logs === '') return [];
  return (logs.log ?? []).flatMap((log) =>
    log === '' || !log['@href'] ? [] : [{ name: log['@name'] ?? 'log', href: log['@href'] }],
  );
}

/** Older tests say PASS and FAIL. */
function normalize(result: string | undefined): string {
  const word = (result ?? 'undefined').toLowerCase();
  return { pass: 'passed', fail: 'failed', skip: 'skipped' }[word] ?? word;
}
