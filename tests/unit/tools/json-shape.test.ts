import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toJsonShape } from '../../../src/tools/json-shape.ts';

const PIPELINE = {
  id: 7,
  status: 'failed',
  ref: null,
  'web-url': 'https://gitlab.test/shop/-/pipelines/7',
  jobs: Array.from({ length: 37 }, (_, id) => ({ id, name: `unit ${id}`, tags: ['docker', 'linux'] })),
  diff: 'grün\n'.repeat(1_000),
  empty: [{}, []],
};

describe('the shape of a value', () => {
  test('has its keys in their order, short values as they are, lengths, and the first items as samples', () => {
    expect(toJsonShape(PIPELINE, 4_096)).toBe(
      [
        '{',
        ' id: 7,',
        ' status: "failed",',
        ' ref: null,',
        ' "web-url": "https://gitlab.test/shop/-/pipelines/7",',
        ' jobs: [37 items with the same keys:',
        '  {id: 0, name: "unit 0", tags: ["docker", "linux"]},',
        '  {id: 1, name: "unit 1", tags: ["docker", "linux"]},',
        '  … 35 more items',
        ' ],',
        ` diff: ${JSON.stringify(`${'grün\n'.repeat(16)}…`)} (5000 characters),`,
        ' empty: [{}, []]',
        '}',
      ].join('\n'),
    );
  });

  test('names every key of the top, and how large what has no room is', () => {
    expect(toJsonShape(PIPELINE, 130)).toBe(
      [
        '{',
        ' id: 7,',
        ' status: "failed",',
        ' ref: null,',
        ' "web-url": string(38),',
        ' jobs: [37 items],',
        ' diff: string(5000),',
        ' empty: [2 items]',
        '}',
      ].join('\n'),
    );
  });

  test.each([
    [{ a: 1 }, '{a: 1}'],
    [[], '[]'],
    ['short', '"short"'],
    [null, 'null'],
    [1.5e300, '1.5e+300'],
    [{ left: undefined, kept: 1 }, '{kept: 1}'],
    [[1, 2, 3, 4], '[4 items: 1, 2, 3, … 1 more item]'],
    [[1, 'a', null, {}], '[4 items of number, string, null, object: 1, "a", null, … 1 more item]'],
  ])('%j is %s', (value, shape) => {
    expect(toJsonShape(value, 1_000)).toBe(shape);
  });

  test.each([
    ['the same keys', [{ a: 1 }, { a: 2 }, { a: 3 }], ' with the same keys'],
    [
      'the same keys in another order',
      [
        { a: 1, b: 1 },
        { b: 1, a: 1 },
        { a: 3, b: 3 },
      ],
      ' with the same keys',
    ],
    ['more keys', [{ a: 1 }, { a: 2 }, { a: 3, why: 'x', 'x-y': 1 }], ', some also with why, "x-y"'],
    ['fewer keys', [{ a: 1, b: 1 }, { a: 2, b: 1 }, { a: 3 }], ', some with fewer keys'],
  ])('tells of items with %s', (_, items, words) => {
    expect(toJsonShape(items, 1_000)).toContain(`[3 items${words}: {a: 1`);
  });

  test('gives what lies deeper no room that the keys of an item need', () => {
    const item = { name: 'x', trace: 'y'.repeat(500), inner: { deep: { deeper: 'z'.repeat(500) } } };
    const shape = toJsonShape({ text: 'w'.repeat(500), items: [item, item] }, 128);
    expect(shape).toContain('name: "x"');
    expect(shape).toContain('trace: string(500)');
    expect(shape).toContain('inner: {1 key}');
  });

  test('does not let one large map take the room of what stands beside it', () => {
    const map = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`src/${n}.ts`, { added: n }]));
    const shape = toJsonShape({ map, jobs: [{ id: 1, failure_reason: 'script_failure' }] }, 512);
    expect(shape).toContain('jobs: [{id: 1, failure_reason: "script_failure"}]');
    expect(shape).toMatch(/"src\/0\.ts": \{added: 0\},.*… \d+ more keys/s);
  });

  test('has all keys of the top before it shows what is in one of them', () => {
    const numbers = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`n${n}`, n]));
    const suites = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`suite_${n}`, numbers]));
    const shape = toJsonShape(suites, 512);
    for (const suite of Object.keys(suites)) expect(shape).toContain(` ${suite}: {`);
  });

  test('cuts no character in two', () => {
    expect(toJsonShape({ text: `a${'😀'.repeat(100)}` }, 1_000)).toMatch(
      /text: "a(?:😀){39}…" \(201 characters\)/u,
    );
  });

  test('of very many keys counts those that have no room', () => {
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`key${n}`, { n }]));
    const shape = toJsonShape(wide, 1_024);
    const shown = shape.match(/key\d+: /g)?.length ?? 0;
    expect(shown).toBeGreaterThan(40);
    expect(shape).toContain(`… ${100_000 - shown} more keys`);
    expect(Buffer.byteLength(shape)).toBeLessThanOrEqual(1_024);
  });

  test.each(['[', '{"a":'])('of what is nested very deep (%s) ends somewhere', (open) => {
    const depth = 50_000;
    const text = open.repeat(depth) + 1 + (open === '[' ? ']' : '}').repeat(depth);
    const shape = toJsonShape(JSON.parse(text), 1_024);
    expect(shape).toMatch(/1 (?:item|key)/);
    expect(Buffer.byteLength(shape)).toBeLessThanOrEqual(1_024);
  });
});

describe('of any JSON', () => {
  const anyBudget = fc.integer({ min: 64, max: 4_096 });
  // Strings long and strange enough to be cut, also as keys.
  const anyText = fc.string({ unit: 'binary', maxLength: 300 });
  const { value: anyJson } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      anyText,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, true, 0),
      fc.array(tie('value'), { maxLength: 12 }),
      fc.dictionary(anyText, tie('value'), { maxKeys: 12 }),
    ),
  }));

  test('the shape never needs more room than it has', () => {
    fc.assert(
      fc.property(anyJson, anyBudget, (value, maxBytes) => {
        expect(Buffer.byteLength(toJsonShape(value, maxBytes))).toBeLessThanOrEqual(maxBytes);
      }),
      { numRuns: 300 },
    );
  });

  test('the shape is the same each time, and that of what is read from the file', () => {
    fc.assert(
      fc.property(anyJson, anyBudget, (value, maxBytes) => {
        const fromFile = JSON.parse(JSON.stringify(value));
        expect(toJsonShape(fromFile, maxBytes)).toBe(toJsonShape(value, maxBytes));
      }),
      { numRuns: 100 },
    );
  });

  test('every key of the top is there when all of them have room', () => {
    const anyKey = fc.stringMatching(/^[a-z]{1,10}$/);
    fc.assert(
      fc.property(fc.dictionary(anyKey, anyJson, { minKeys: 1, maxKeys: 18 }), (value) => {
        const shape = toJsonShape(value, 1_024);
        const top = shape.includes('\n') ? shape.split('\n').filter((line) => /^ \S/.test(line)) : [shape];
        for (const key of Object.keys(value)) expect(top.join('\n')).toMatch(new RegExp(`\\b${key}: `));
        if (top.length > 1)
          expect(top.map((line) => /^ (\w+): /.exec(line)?.[1]).filter(Boolean)).toEqual(Object.keys(value));
      }),
      { numRuns: 200 },
    );
  });
});
