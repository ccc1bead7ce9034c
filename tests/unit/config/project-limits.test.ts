import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchProject, mayReadProject, projectLimits } from '../../../src/config/config.ts';
import { load } from './problems.ts';

it('gives the limits of the most specific pattern, or null for a project that is not allowed', () => {
  const config = load("projects: { 'group/**': {}, 'group/app': { usdPerDay: 7, maxConcurrent: 1 } }");

  expect(projectLimits(config, { id: 1, path: 'group/app' })).toEqual({
    maxConcurrent: 1,
    usdPerRun: 2,
    usdPerMr: 10,
    usdPerDay: 7,
  });
  expect(projectLimits(config, { id: 2, path: 'group/other' })?.usdPerDay).toBe(50);
  expect(projectLimits(config, { id: 3, path: 'elsewhere/app' })).toBeNull();
});

it('lets another project be read only if a pattern names it', () => {
  const config = load("gitlab: { readProjects: ['infra/**', '42'] }");

  expect(mayReadProject(config, { id: 1, path: 'Infra/deploy' })).toBe(true);
  expect(mayReadProject(config, { id: 42, path: 'group/app' })).toBe(true);
  expect(mayReadProject(config, { id: 2, path: 'group/app' })).toBe(false);
  expect(mayReadProject(load(''), { id: 1, path: 'infra/deploy' })).toBe(false);
});

describe('one pattern', () => {
  it.each([
    ['group/app', 'group/app', true],
    ['group/app', 'group/app2', false],
    ['group/app', 'group/sub/app', false],
    ['Group/App', 'gROUP/aPP', true],
    ['42', 'group/app', true],
    ['4', 'group/app', false],
    ['**', 'group/app', true],
    ['**', 'a/b/c/d', true],
    ['group/**', 'group/app', true],
    ['group/**', 'group/a/b/c', true],
    ['group/**', 'group', false],
    ['group/**', 'groups/app', false],
    ['group/*', 'group/app', true],
    ['group/*', 'group/sub/app', false],
    ['*/app', 'group/app', true],
    ['*/app', 'group/sub/app', false],
    ['**/app', 'a/b/c/app', true],
    ['**/app', 'a/b/app/c', false],
    ['group/**/app', 'group/app', true],
    ['group/**/app', 'group/a/b/app', true],
    ['group/lib-*', 'group/lib-core', true],
    ['group/lib-*', 'group/library', false],
    ['group/*-*-api', 'group/a-b-c-api', true],
    ['group/a.c', 'group/abc', false],
    ['group/**/x-*/**', 'group/a/x-1/b/c', true],
    ['group/**/x-*/**', 'group/a/b/c', false],
  ])('%s and project 42, %s: %s', (pattern, path, expected) => {
    expect(matchProject({ [pattern]: 'yes' }, { id: 42, path })).toBe(expected ? 'yes' : null);
  });
});

describe('of several patterns', () => {
  it.each([
    ['an exact path beats every wildcard', ['group/ap*', '**', 'group/app'], 'group/app'],
    ['a numeric id beats every wildcard', ['group/ap*', '42', 'group/**'], '42'],
    ['the longest literal prefix wins', ['**', 'group/**', 'group/sub/**', '*/sub/app'], 'group/sub/**'],
    ['then the most literal characters', ['group/*', 'group/*p'], 'group/*p'],
    ['then the least depth', ['group/**', 'group/*'], 'group/*'],
  ])('%s, in any order', (_, patterns, winner) => {
    const path = winner.includes('sub') ? 'group/sub/app' : 'group/app';
    const mapOf = (names: string[]) => Object.fromEntries(names.map((name) => [name, name]));

    expect(matchProject(mapOf(patterns), { id: 42, path })).toBe(winner);
    expect(matchProject(mapOf(patterns.toReversed()), { id: 42, path })).toBe(winner);
  });
});

describe('for any input', () => {
  const limits = { maxConcurrent: 1, usdPerRun: 1, usdPerMr: 1, usdPerDay: 1 };
  const text = fc.string({ unit: fc.constantFrom('a', 'B', '*', '/', '.', '-', '1', 'é'), maxLength: 30 });
  const segment = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,8}$/);
  const path = fc.array(segment, { minLength: 2, maxLength: 5 }).map((segments) => segments.join('/'));

  it('projectLimits answers with the limits of some pattern or null, and never throws', () => {
    fc.assert(
      fc.property(fc.array(text), fc.integer(), fc.oneof(text, fc.string()), (patterns, id, name) => {
        const projects = Object.fromEntries(patterns.map((pattern) => [pattern, { ...limits }]));
        const found = projectLimits({ projects }, { id, path: name });
        expect(found === null || Object.values(projects).includes(found)).toBe(true);
      }),
    );
  });

  it('an exact path beats any wildcard, in any case of its letters', () => {
    fc.assert(
      fc.property(path, fc.array(text), fc.integer({ min: 1 }), (name, others, id) => {
        const wildcards = others.map((other) => `${other}*`);
        const projects = Object.fromEntries([...wildcards, '**'].map((pattern) => [pattern, { ...limits }]));
        const exact = { ...limits, usdPerDay: 99 };
        const found = projectLimits(
          { projects: { ...projects, [name.toUpperCase()]: exact } },
          { id, path: name },
        );
        expect(found).toBe(exact);
      }),
    );
  });

  it('a literal pattern means itself alone', () => {
    fc.assert(
      fc.property(path, path, (pattern, name) => {
        expect(matchProject({ [pattern]: true }, { id: 0, path: name })).toBe(pattern === name ? true : null);
      }),
    );
  });

  it('agrees with a plain, exponential definition of the wildcards', () => {
    const glob = fc
      .array(fc.constantFrom('a', 'b', '*', 'a*', '*b', '*a*', '**'), { minLength: 1, maxLength: 5 })
      .map((segments) => segments.join('/'));
    const short = fc
      .array(fc.constantFrom('a', 'b', 'ab', 'ba', 'bab'), { minLength: 1, maxLength: 5 })
      .map((segments) => segments.join('/'));
    fc.assert(
      fc.property(glob, short, (pattern, name) => {
        const expected = fitsSegments(pattern.replace(/(^|\/)\*\*$/, '$1*/**').split('/'), name.split('/'));
        expect(matchProject({ [pattern]: true }, { id: 0, path: name })).toBe(expected ? true : null);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes no longer for a hostile pattern', () => {
    const pattern = `${'a*'.repeat(500)}b/${'**/a/'.repeat(500)}b`;
    const name = `${'a'.repeat(2000)}/${'a/'.repeat(2000)}a`;
    const start = performance.now();

    expect(matchProject({ [pattern]: true }, { id: 0, path: name })).toBeNull();
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

function fitsSegments(pattern: string[], names: string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return names.length === 0;
  if (first === '**')
    return names.some((_, skip) => fitsSegments(rest, names.slice(skip))) || fitsSegments(rest, []);
  const [name, ...others] = names;
  return name !== undefined && fitsText(first, name) && fitsSegments(rest, others);
}

function fitsText(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern[0] === '*')
    return fitsText(pattern.slice(1), text) || (text !== '' && fitsText(pattern, text.slice(1)));
  return pattern[0] === text[0] && fitsText(pattern.slice(1), text.slice(1));
}
