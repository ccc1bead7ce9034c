import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../bin/hummingbird');
const ENV = {
  GITLAB_READ_TOKEN: 'glpat-read',
  GITLAB_WRITE_TOKEN: 'glpat-write',
  HUMMINGBIRD_WEBHOOK_TOKEN: 'a-token-that-is-long-enough',
  ANTHROPIC_API_KEY: 'a-key',
};

function hummingbird(args: string[], { cwd = newFolder(), env = {}, program = PROGRAM } = {}) {
  const path = { PATH: process.env.PATH };
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: { ...path, ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'hummingbird-cli-'));
}

describe('hummingbird', () => {
  test('--help names every command and the exit codes', () => {
    const { status, stdout } = hummingbird(['--help']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/serve[\s\S]*config[\s\S]*Exit codes/);
  });

  test('--version is that of the package, also through a link from elsewhere', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
    expect(hummingbird(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    const link = join(newFolder(), 'hb');
    symlinkSync(PROGRAM, link);
    expect(hummingbird(['--version'], { program: link }).stdout).toBe(`${version}\n`);
  });

  test.each([
    [['frobnicate'], 'unknown command'],
    [['serve', '--role', 'boss'], 'Allowed choices are api, worker, all'],
    [['serve', '--rolle', 'api'], 'unknown option'],
    [['analyze', 'group/app!7'], 'not the address of a merge request'],
    [['analyze', 'https://gitlab.example.com/group/app/-/issues/7'], 'not the address of a merge request'],
  ])('%j is wrong usage', (args, message) => {
    const { status, stderr } = hummingbird(args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });

  test('serve without secrets says all that is missing and how to get it', () => {
    const { status, stderr } = hummingbird(['serve']);
    expect(status).toBe(78);
    expect(stderr).toMatch(/GITLAB_READ_TOKEN[\s\S]*GITLAB_WRITE_TOKEN[\s\S]*no webhook secret/);
    expect(stderr).toContain('read_api');
  });
});

describe('hummingbird config', () => {
  test('init writes a file that check accepts, and overwrites nothing', () => {
    const cwd = newFolder();
    expect(hummingbird(['config', 'init'], { cwd })).toMatchObject({ status: 0 });
    expect(hummingbird(['config', 'check'], { cwd, env: ENV })).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('is fine'),
    });
    writeFileSync(join(cwd, 'hummingbird.yaml'), '# mine\nlog: { level: debug }\n');
    const again = hummingbird(['config', 'init'], { cwd });
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('--force') });
    expect(readFileSync(join(cwd, 'hummingbird.yaml'), 'utf8')).toContain('# mine');
    expect(hummingbird(['config', 'init', '--force'], { cwd })).toMatchObject({ status: 0 });
    expect(readFileSync(join(cwd, 'hummingbird.yaml'), 'utf8')).not.toContain('# mine');
  });

  test('check reports six mistakes with six messages, each with line and fix, and no secret', () => {
    const cwd = newFolder();
    writeFileSync(
      join(cwd, 'hummingbird.yaml'),
      `gitlab:
  url: gitlab.example.com
  readTokenEnv: glpat-abcdefghijklmnopqrst
  timeotMs: 10
queue:
  concurrency: many
  debounceMs: 5000
  debounceMaxMs: 10
store:
  kind: ftp
`,
    );
    const { status, stderr } = hummingbird(['config', 'check'], { cwd, env: ENV });
    expect(status).toBe(78);
    const [head, ...problems] = stderr.trim().split('\n');
    expect(head).toContain('6 problems');
    expect(problems).toHaveLength(6);
    for (const problem of problems) expect(problem).toMatch(/line \d+.*Fix: /);
    expect(stderr).not.toContain('glpat-abc');
    expect(stderr).toContain('timeoutMs');
  });

  test('check reports what is wrong with the file and what is missing in the environment together', () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, 'hummingbird.yaml'), 'server: { port: many }\n');
    const { status, stderr } = hummingbird(['config', 'check'], { cwd });
    expect(status).toBe(78);
    expect(stderr).toMatch(/5 problems[\s\S]*server.port[\s\S]*GITLAB_READ_TOKEN[\s\S]*ANTHROPIC_API_KEY/);
  });

  test('schema prints a JSON Schema', () => {
    const { status, stdout } = hummingbird(['config', 'schema']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'object', properties: { gitlab: {}, queue: {} } });
  });

  test('a file that is not there is an error, not the defaults', () => {
    const { status, stderr } = hummingbird(['config', 'check', '-c', 'nowhere.yaml'], { env: ENV });
    expect(status).toBe(78);
    expect(stderr).toContain('nowhere.yaml');
  });
});

describe('hummingbird evidence', () => {
  const FAILED = [...Array(500).fill('ok'), 'price.test.js:7: AssertionError: expected 3 to equal 4'].join(
    '\n',
  );

  test('prints of each log what explains the failure; one that is not there does not keep it from the others', () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, 'one.log'), FAILED);
    writeFileSync(join(cwd, 'two.log'), 'fine\n');
    const { status, stdout, stderr } = hummingbird(['evidence', 'one.log', 'none.log', 'two.log'], { cwd });
    expect(stdout).toBe(
      '==> one.log <==\n1|ok [500 times]\n501|price.test.js:7: AssertionError: expected 3 to equal 4\n==> two.log <==\n1|fine\n',
    );
    expect(stderr).toMatch(/none\.log: there is no such file; name a log, or - for the standard input/);
    expect(status).toBe(1);
  });

  test('--json gives an object per file, of the size that was asked for', () => {
    const cwd = newFolder();
    const noise = Array.from({ length: 900 }, (_, at) => `task ${at} is done by worker ${at % 7}`);
    writeFileSync(join(cwd, 'one.log'), [...noise, 'Error: no space left on device', ...noise].join('\n'));
    const { status, stdout } = hummingbird(['evidence', '--json', '--max-bytes', '300', 'one.log'], { cwd });
    expect(status).toBe(0);
    const { text, ...rest } = JSON.parse(stdout);
    expect(text).toContain('\n901|Error: no space left on device\n');
    expect(rest).toEqual({ file: 'one.log', bytes: Buffer.byteLength(text), ranges: expect.any(Array) });
    expect(rest.bytes).toBeLessThanOrEqual(300);
    expect(rest.ranges.some(([from, to]: [number, number]) => from <= 901 && to >= 901)).toBe(true);
  });

  test('--explain says why, --reference what is compared with', () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, 'passed.log'), 'ERROR: no theme\nok\n');
    writeFileSync(join(cwd, 'failed.log'), 'ERROR: no theme\nledger is short by 3\nok\n');
    const args = ['evidence', '--explain', '--reference', 'passed.log', 'failed.log'];
    expect(hummingbird(args, { cwd }).stdout).toMatch(/^2 {2}\S+ {2}.*\bnew \+/m);
  });

  test('ends quietly when nobody reads on, and with one line when the output can not be written', () => {
    const cwd = newFolder();
    const lines = Array.from({ length: 40_000 }, (_, at) => `Error ${at}: ${'x'.repeat(at % 50)}`);
    writeFileSync(join(cwd, 'one.log'), lines.join('\n'));
    const shell = (rest: string) => {
      const script = `set -o pipefail; "$0" evidence one.log --max-bytes 1000000 ${rest}`;
      return hummingbird(['--norc', '-c', script, PROGRAM], { cwd, program: '/bin/bash' });
    };

    const unread = shell('| head -1');
    const full = shell('> /dev/full');

    expect(unread).toMatchObject({ status: 0, stderr: '' });
    expect(unread.stdout.split('\n')).toHaveLength(2);
    expect(full.status).toBe(1);
    expect(full.stderr).toMatch(/^hummingbird: the output can not be written: ENOSPC.*\n$/);
  });

  test('a reference that is not there is named as such', () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, 'one.log'), FAILED);
    const { status, stderr } = hummingbird(['evidence', '--reference', 'none.log', 'one.log'], { cwd });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^hummingbird: the reference none\.log can not be read: there is no such file.*\n$/,
    );
  });

  test.each([[['-', '-']], [['--reference', '-', '-']]])(
    'the standard input twice, as in %j, is wrong usage',
    (args) => {
      const { status, stderr } = hummingbird(['evidence', ...args]);
      expect(status).toBe(2);
      expect(stderr).toContain("'-' can be given only once");
    },
  );

  test.each(['0', '-3', '10', 'many', '1.5'])('--max-bytes %s is wrong usage', (size) => {
    const { status, stderr } = hummingbird(['evidence', '--max-bytes', size, 'one.log']);
    expect(status).toBe(2);
    expect(stderr).toContain('A number of bytes is needed');
  });
});
