import { describe, expect, it } from 'vitest';
import { errorOf, load, problemsOf } from './problems.ts';

describe('all problems at once', () => {
  const sixMistakes = `gitlab:
  url: gitlab.example.com
  readTokenEnv: glpat-abcdefghijklmnopqrst
server:
  port: 8080
  port: 9090
queue:
  concurency: 8
  attempts: many
  debounceMs: 20000
  debounceMaxMs: 10000
`;

  it('reports six mistakes of six kinds as six problems, each with its line and the way to mend it', () => {
    const problems = problemsOf(sixMistakes);

    expect(problems.map(({ path, line }) => [path, line])).toEqual([
      ['gitlab.url', 2],
      ['gitlab.readTokenEnv', 3],
      ['', 6],
      ['queue.concurency', 8],
      ['queue.attempts', 9],
      ['queue.debounceMaxMs', 11],
    ]);
    for (const { message, fix } of problems) {
      expect(message).not.toBe('');
      expect(fix).not.toBe('');
    }
  });

  it('lists them in the message of the error, one per line', () => {
    const error = errorOf(() => load(sixMistakes));

    const [head, ...lines] = error.message.split('\n');
    expect(head).toMatch(/hummingbird\.yaml has 6 problems:$/);
    expect(lines).toHaveLength(6);
    expect(lines[3]).toBe('  line 8, queue.concurency: is not a known key. Fix: did you mean concurrency?');
    expect(lines[5]).toContain('must not be smaller than debounceMs. Fix: raise it or lower debounceMs.');
  });

  it('compares keys of a section even if other keys of it are wrong, but not the wrong ones', () => {
    const text =
      'queue:\n  nonsense: 1\n  debounceMs: 5\n  debounceMaxMs: 1\n  backoffMs: x\n  backoffMaxMs: 1\n';

    expect(problemsOf(text).map(({ path }) => path)).toEqual([
      'queue.nonsense',
      'queue.debounceMaxMs',
      'queue.backoffMs',
    ]);
  });
});

describe('what is not YAML', () => {
  it.each([
    ['an open quote', 'server:\n  host: "x\n', 'Missing closing'],
    ['an open quote that swallows the rest', 'gitlab:\n  url: "x\nserver:\n  prt: 1\n', 'Missing closing'],
    ['a tab', 'server:\n\tport: 1\n', 'Tabs are not allowed'],
    ['a wrong indentation', 'server:\n  port: 1\n host: x\n', 'column'],
    ['a stray indentation', '# x\nserver:\n  host: x\n    port: 1\n', 'Nested mappings'],
    ['a reserved character', 'server:\n  host: @home\n', 'reserved character'],
    ['an unknown tag', 'server:\n  host: !home x\n', 'Unresolved tag'],
    ['a second document', 'server: {}\n---\nserver: {}\n', 'multiple documents'],
  ])('%s is one problem with line and column', (_, text, message) => {
    const problems = problemsOf(text);

    expect(problems).toHaveLength(1);
    expect(problems[0]?.line).toBeGreaterThan(1);
    expect(problems[0]?.message).toContain(message);
    expect(problems[0]?.message).toMatch(/column \d/);
  });

  it('reports what stands before a syntax error, and guesses nothing about the rest', () => {
    const text =
      'server:\n  prt: 1\nmodels:\n  main:\n    - provider: openai\n     model: x\nlog: { levl: info }\n';

    expect(problemsOf(text).map(({ path, line }) => [path, line])).toEqual([
      ['server.prt', 2],
      ['', 6],
    ]);
  });

  it('says of one slip only what is wrong first', () => {
    const afterList = problemsOf('- 1\nserver:\n  port: 1\nlog:\n');
    const reserved = problemsOf('gitlab:\n  url: @home\n');
    const twice = problemsOf('server:\n  port: 1\n  port: x\n');

    expect(afterList.map(({ message }) => message)).toEqual([
      'not valid YAML at column 1: Unexpected scalar at node end',
    ]);
    expect(reserved).toMatchObject([{ line: 2, fix: 'put the value into quotes' }]);
    expect(twice).toMatchObject([{ line: 3, fix: 'keep one of the two and remove the other' }]);
  });

  it('finds the line of a numeric key', () => {
    expect(problemsOf('projects:\n  7: {}\n  42: { usdPerDay: -1 }\n')).toMatchObject([
      { path: "projects['42'].usdPerDay", line: 3 },
    ]);
  });

  it('refuses an alias bomb', () => {
    const level = (name: string, of: string) =>
      `${name}: &${name} [${Array(10).fill(`*${of}`).join(', ')}]\n`;
    const text = `a: &a [x]\n${level('b', 'a')}${level('c', 'b')}${level('d', 'c')}`;

    expect(problemsOf(text)[0]?.message).toMatch(/alias/);
  });

  it('survives a value that contains itself', () => {
    expect(problemsOf('projects: &all { a/b: *all }').map(({ path }) => path)).toEqual([
      "projects['a/b']['a/b']",
    ]);
  });

  it('names an alias without anchor', () => {
    expect(problemsOf('log: *missing')).toMatchObject([
      { fix: expect.stringContaining('instead of using aliases') },
    ]);
  });
});
