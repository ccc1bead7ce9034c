// Turns what zod found into sentences for the person who edits the file, each with the way to mend it.
import type { z } from 'zod';
import { closestName } from './closest-name.ts';
import { type JsonSchema, schemaAt, valueAt } from './json-schema.ts';
import type { Flaw, LocatedFlaw } from './problem.ts';

/** An issue can stand for several flaws: zod reports all unknown keys of a section as one. */
export function explainIssue(issue: z.core.$ZodIssue, document: unknown): LocatedFlaw[] {
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(schemaAt(issue.path, document).properties ?? {});
    return issue.keys.map((key) => ({ path: [...issue.path, key], ...explainUnknownKey(key, known) }));
  }
  return [{ path: issue.path, ...explainValue(issue, document) }];
}

function explainUnknownKey(key: string, known: string[]): Flaw {
  const guess = closestName(key, known);
  const fix = guess === undefined ? `remove it; known here: ${known.join(', ')}` : `did you mean ${guess}?`;
  return { message: 'is not a known key', fix };
}

function explainValue(issue: z.core.$ZodIssue, document: unknown): Flaw {
  const value = valueAt(issue.path, document);
  const schema = schemaAt(issue.path, document);
  const fix = describeFix(value, schema);
  switch (issue.code) {
    case 'custom':
      return { message: issue.message, fix: ownFix(issue) ?? fix };
    case 'invalid_key':
      return { message: issue.issues[0]?.message ?? issue.message, fix: ownFix(issue.issues[0]) ?? fix };
    case 'too_small':
    case 'too_big':
      return { message: describeSize(issue, value), fix };
    default:
      return { message: describeMismatch(value, schema), fix: guessChoice(value, schema) ?? fix };
  }
}

function describeFix(value: unknown, schema: JsonSchema): string {
  if (value === undefined && schema.description) return `add it: ${schema.description}`;
  return `write ${describeExpected(schema)}${describeDefault(schema)}`;
}

/** The way to mend it that a check of ours has brought along. */
function ownFix(issue: z.core.$ZodIssue | undefined): string | undefined {
  const fix: unknown = issue?.code === 'custom' ? issue.params?.fix : undefined;
  return typeof fix === 'string' ? fix : undefined;
}

function guessChoice(value: unknown, schema: JsonSchema): string | undefined {
  const guess = typeof value === 'string' ? closestName(value, schema.enum?.map(String) ?? []) : undefined;
  return guess && `did you mean ${guess}?`;
}

function describeSize(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, value: unknown): string {
  if (issue.origin !== 'number' && issue.origin !== 'int') return 'must not be empty';
  return `${String(value)} is too ${issue.code === 'too_small' ? 'small' : 'large'}`;
}

function describeMismatch(value: unknown, schema: JsonSchema): string {
  if (value === undefined) return 'is missing';
  if (value === null) return 'has no value';
  if (schema.enum) return `must be ${describeExpected(schema)}`;
  const wantsNumber = schema.type === 'integer' || schema.type === 'number';
  if (typeof value === 'number' && wantsNumber) return `${value} is not ${describeExpected(schema)}`;
  return `must be ${describeExpected(schema)}, not ${describeKind(value)}`;
}

/** Only the kind: the value itself may be a secret in the wrong place. */
function describeKind(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

function describeExpected(schema: JsonSchema): string {
  if (schema.anyOf) return schema.anyOf.map((option) => describeExpected(option)).join(' or ');
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  switch (schema.type) {
    case 'integer':
      return `a whole number${describeRange(schema)}`;
    case 'number':
      return `a number${describeRange(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return schema.minItems === undefined ? 'a list' : 'a list with at least one entry';
    case 'string':
      return 'a text';
    default:
      return 'a map of keys and values';
  }
}

function describeRange({ minimum, exclusiveMinimum, maximum }: JsonSchema): string {
  const lower = exclusiveMinimum === undefined ? minimum : `above ${exclusiveMinimum}`;
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return ` of at least ${lower}`;
  return exclusiveMinimum === undefined ? ` from ${lower} to ${maximum}` : ` ${lower}, up to ${maximum}`;
}

function describeDefault(schema: JsonSchema): string {
  return schema.default === undefined || typeof schema.default === 'object'
    ? ''
    : ` (the default is ${schema.default})`;
}
