import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../scripts/supply-chain.mjs');

function check(...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, '--check', ...args], { encoding: 'utf8' });
  return { status, problems: stderr.split('\n').filter(Boolean) };
}

function projectWith(dependencies: Record<string, string>, packages: Record<string, object>): string {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-supply-'));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'app', version: '1.0.0', dependencies }),
  );
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, packages: { '': { dependencies }, ...packages } }),
  );
  return folder;
}

test('every package of ours is one version, has a checksum and a licence we know', () => {
  expect(check()).toEqual({ status: 0, problems: [] });
});

const INTEGRITY = { integrity: 'sha512-x' };

test.each([
  ['a range of versions', { left: '^1.0.0' }, {}, "left: '^1.0.0' is not one version"],
  ['a branch', { left: 'github:one/left' }, {}, "left: 'github:one/left' is not one version"],
  ['no checksum', {}, { 'node_modules/left': { license: 'MIT' } }, 'left: has no checksum'],
  ['no licence', {}, { 'node_modules/left': INTEGRITY }, 'left: licence is not stated'],
  [
    'a licence nobody has looked at',
    {},
    { 'node_modules/a/node_modules/@one/left': { ...INTEGRITY, license: 'MIT AND AGPL-3.0' } },
    '@one/left: licence MIT AND AGPL-3.0',
  ],
])('%s is a problem that is named', (_what, dependencies, packages, problem) => {
  const { status, problems } = check('--root', projectWith(dependencies, packages));
  expect(status).toBe(1);
  expect(problems).toEqual([expect.stringContaining(problem)]);
});

test.each([
  ['a choice of licences, one of them known', { license: '(GPL-3.0 OR MIT)' }],
  ['what only tests use', { license: 'MPL-2.0', dev: true }],
])('%s is none', (_what, one) => {
  expect(check('--root', projectWith({}, { 'node_modules/left': { ...INTEGRITY, ...one } })).status).toBe(0);
});

const BULK = '/-/npm/v1/security/advisories/bulk';

test.each([
  ['high', 1, 'there are advisories that are high or critical\n'],
  ['low', 0, ''],
])('an advisory that is %s is named', async (severity, code, stderr) => {
  const about = {
    id: 1,
    url: 'https://advisories.example.com/1',
    title: 'It leaks.',
    vulnerable_versions: '<2.0.0',
  };
  const registry = await startRegistry({ left: [{ ...about, severity, cwe: [], cvss: { score: 0 } }] });
  const report = await reportOn(registry.url);
  expect(report).toMatchObject({ code, stderr });
  expect(report.stdout).toContain('bill of materials: ');
  expect(report.stdout).toMatch(new RegExp(`\nadvisories: 1 .*"${severity}":1`));
  expect(report.stdout).toContain(`\n  ${severity}: left 1.0.0 (It leaks. ${about.url})\n`);
  expect(registry.asked()).toEqual({ left: ['1.0.0'] });
});

test('a registry without advisories is no fault of the packages, and is said', async () => {
  const { url } = await startRegistry(null);
  expect(await reportOn(url)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('advisories: the registry did not answer; run it where it does'),
  });
});

/** Answers what `npm audit` asks. */
async function startRegistry(advisories: object | null) {
  let asked: unknown;
  const server = createServer(async (request, response) => {
    const answers: Record<string, object | null> = {
      [BULK]: advisories,
      '/left': advisories && { name: 'left', versions: { '1.0.0': {}, '2.0.0': {} } },
    };
    const answer = answers[request.url ?? ''] ?? null;
    const bytes = Buffer.concat(await request.toArray());
    if (request.url === BULK)
      asked = JSON.parse((request.headers['content-encoding'] ? gunzipSync(bytes) : bytes).toString());
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: 'not found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: () => asked };
}

async function reportOn(registry: string) {
  const packages = { 'node_modules/left': { version: '1.0.0', license: 'MIT', ...INTEGRITY } };
  const root = projectWith({ left: '1.0.0' }, packages);
  mkdirSync(join(root, 'node_modules/left'), { recursive: true });
  writeFileSync(join(root, 'node_modules/left/package.json'), '{"name":"left","version":"1.0.0"}');
  const settings = { registry, cache: join(root, 'cache'), fetch_retries: '0' };
  const named = Object.entries(settings).map(([name, value]) => [`npm_config_${name}`, value]);
  const env = { ...process.env, ...Object.fromEntries(named) };
  const args = [SCRIPT, '--root', root, '--out', join(root, 'out')];
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}
