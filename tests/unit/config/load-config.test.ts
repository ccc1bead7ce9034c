import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { errorOf, load } from './problems.ts';

describe('finding the file', () => {
  it('takes the embedded defaults where there is no file', () => {
    const { config, file } = loadConfig({ cwd: emptyFolder(), env: {} });

    expect(file).toBeNull();
    expect(config.gitlab.url).toBe('https://gitlab.com');
    expect(config.projects).toEqual({
      '**': { maxConcurrent: 2, usdPerRun: 2, usdPerMr: 10, usdPerDay: 50 },
    });
    expect(config.queue).toMatchObject({ url: 'pglite:.hummingbird/db', concurrency: 4, maxStalled: 20 });
    expect(config.models.main).toEqual([
      { provider: 'anthropic', model: 'claude-sonnet-5-5', apiKeyEnv: 'ANTHROPIC_API_KEY' },
      { provider: 'gemini', model: 'gemini-3.8-flash', apiKeyEnv: 'GEMINI_API_KEY' },
    ]);
    expect(config.store).toEqual({ kind: 'folder', dir: '.hummingbird/sessions', retentionDays: 90 });
    expect(config.sandbox.kind).toBe('virtual');
    expect(config.sources).toEqual({ mcp: [] });
  });

  it('takes hummingbird.yaml of the working directory', () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, 'hummingbird.yaml'), 'server: { port: 1234 }');

    const { config, file } = loadConfig({ cwd, env: {} });

    expect(file).toBe(join(cwd, 'hummingbird.yaml'));
    expect(config.server).toEqual({ host: '127.0.0.1', port: 1234 });
  });

  it('prefers the file of HUMMINGBIRD_CONFIG, and an explicit one to both', () => {
    const cwd = emptyFolder();
    for (const [name, port] of Object.entries({ 'hummingbird.yaml': 1, 'env.yaml': 2, 'explicit.yaml': 3 })) {
      writeFileSync(join(cwd, name), `server: { port: ${port} }`);
    }
    const env = { HUMMINGBIRD_CONFIG: 'env.yaml' };

    expect(loadConfig({ cwd, env }).config.server.port).toBe(2);
    expect(loadConfig({ cwd, env, file: 'explicit.yaml' }).config.server.port).toBe(3);
    expect(loadConfig({ cwd, env: { HUMMINGBIRD_CONFIG: '' } }).config.server.port).toBe(1);
  });

  it('says so when a file that was asked for does not exist', () => {
    const explicit = errorOf(() => loadConfig({ cwd: emptyFolder(), file: 'missing.yaml', env: {} }));
    const fromEnv = errorOf(() =>
      loadConfig({ cwd: emptyFolder(), env: { HUMMINGBIRD_CONFIG: 'gone.yaml' } }),
    );

    expect(explicit.message).toMatch(
      /missing\.yaml has 1 problem:\n.*does not exist.*hummingbird config init/,
    );
    expect(fromEnv.message).toMatch(/gone\.yaml has 1 problem:\n.*does not exist/);
  });

  it('says so when the file can not be read, and keeps the cause', () => {
    const cwd = emptyFolder();
    mkdirSync(join(cwd, 'hummingbird.yaml'));

    const error = errorOf(() => loadConfig({ cwd, env: {} }));

    expect(error.problems[0]?.message).toBe('the file can not be read');
    expect(error.cause).toMatchObject({ code: 'EISDIR' });
  });
});

describe('what may be left out', () => {
  const defaults = load('');

  it.each([
    ['an empty file', ''],
    ['only comments', '# nothing yet\n'],
    ['an empty map', '{}'],
    ['sections without keys', 'gitlab:\nqueue:\n  # concurrency: 8\nstore:\n'],
  ])('%s means the defaults', (_, text) => {
    expect(load(text)).toEqual(defaults);
  });

  it('a project without limits gets the default limits', () => {
    expect(load('projects:\n  group/app:\n').projects).toEqual({
      'group/app': { maxConcurrent: 2, usdPerRun: 2, usdPerMr: 10, usdPerDay: 50 },
    });
  });

  it('an emptied allowlist is a problem, not the default that allows everything', () => {
    expect(errorOf(() => load('projects:\n  # group/app: {}\n')).problems).toMatchObject([
      { path: 'projects', line: 1 },
    ]);
  });
});

it('drops the slash at the end of an address and keeps its relative root', () => {
  expect(load('gitlab: { url: "https://ci.example.com/gitlab/" }').gitlab.url).toBe(
    'https://ci.example.com/gitlab',
  );
});

it('understands numeric project ids, anchors and aliases', () => {
  const config = load('projects:\n  42: &small { usdPerDay: 1 }\n  group/app: *small\n');

  expect(config.projects['42']?.usdPerDay).toBe(1);
  expect(config.projects['group/app']?.usdPerDay).toBe(1);
});

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
