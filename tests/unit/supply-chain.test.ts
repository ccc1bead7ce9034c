import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../scripts/supply-chain.mjs');

function check(...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, '--check', ...args], { encoding: 'utf8' });
  return { status, problems: stderr.split('\n').filter(Boolean) };
}

function projectWith(dependencies: Record<string, string>, packages: Record<string, object>): string {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-supply-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
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
