// JUnit's XML, which every test tool writes a little differently.
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import type { TestCase } from './failed-tests.ts';

/** The cases of a report, or null when it is none. Throws when it is no whole XML, or not as JUnit's is. */
export function parseJunit(xml: string): TestCase[] | null {
  // The parser itself takes half a file without a word.
  const validity = XMLValidator.validate(xml);
  if (validity !== true) throw new PermanentError(`is no whole XML: ${validity.err.msg}`);
  const root: unknown = parser.parse(xml);
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

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  // Entities that a document declares are never expanded; the usual ones are decoded below.
  processEntities: false,
  maxNestedTags: 50,
  isArray: (name) => LISTS.has(name),
});

const text = z.string().transform(decodeEntities);

/** `<failure message="…">text</failure>`, `<failure>text</failure>` or `<failure/>`. */
const problem = z.union([
  text.transform((words) => ({ message: '', words })),
  z
    .object({ '@message': text.optional(), '#text': text.optional() })
    .transform((one) => ({ message: one['@message'] ?? '', words: one['#text'] ?? '' })),
]);

// An element without attributes and children is a text, mostly an empty one.
const bare = z.string().transform((): Case & Suite => ({}));

const attributesOfCase = z.object({
  '@name': text.optional(),
  '@classname': text.optional(),
  '@file': text.optional(),
  '@time': z.string().optional(),
  failure: z.array(problem).optional(),
  error: z.array(problem).optional(),
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
  const problems = [...(one.failure ?? []), ...(one.error ?? [])];
  const seconds = Number(one['@time']?.replaceAll(',', '') ?? Number.NaN);
  return {
    suite: suiteName,
    classname: one['@classname'] ?? '',
    name: one['@name'] ?? '',
    status: one.failure ? 'failed' : one.error ? 'error' : one.skipped ? 'skipped' : 'passed',
    file: one['@file'] ?? null,
    seconds: Number.isFinite(seconds) ? seconds : null,
    message: problems.map(toMessage).join('\n\n'),
  };
}

/** Most reporters begin the text with the message. */
function toMessage({ message, words }: z.infer<typeof problem>): string {
  return words.trim().startsWith(message.trim()) ? words : [message, words].filter(Boolean).join('\n');
}

const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decodeEntities(words: string): string {
  return words.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/gi,
    (whole, hex, decimal, name) => {
      if (name) return NAMED[name] ?? whole;
      const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
