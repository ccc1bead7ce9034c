// Makes a fresh clone ready: npm packages always, system programs for the tests where we may install them.
// Runs on any Node.js >= 20 and before anything is installed, so it imports nothing but Node itself.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Programs the tests start by themselves, and the Debian package each one is in. */
const testPrograms = [
  { program: 'redis-server', debianPackage: 'redis-server' },
  { program: 'postgres', debianPackage: 'postgresql' },
  { program: 'openssl', debianPackage: 'openssl' },
  { program: 'script', debianPackage: 'bsdutils' },
  { program: 'dockerd', debianPackage: 'docker.io' },
  { program: 'mmdebstrap', debianPackage: 'mmdebstrap' },
];

installNpmPackages();
if (process.argv.includes('--tests')) installTestPrograms();

function installNpmPackages() {
  const stamp = join(root, 'node_modules', '.hummingbird-lock');
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  say('installing npm packages (about a minute)');
  // Engine warnings are about the Node.js that runs npm; ours is among the packages.
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, wanted);
}

function installTestPrograms() {
  const missing = testPrograms.filter(({ program }) => !isInstalled(program));
  if (missing.length === 0) return;
  const packages = missing.map((entry) => entry.debianPackage);
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) {
    say(`not found: ${missing.map((entry) => entry.program).join(', ')}`);
    say(`the tests that need them are skipped by name; on Debian: apt-get install ${packages.join(' ')}`);
    return;
  }
  say(`installing ${packages.join(', ')}`);
  run('apt-get', ['update', '-qq']);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
    DEBIAN_FRONTEND: 'noninteractive',
    // The tests start servers of their own; Debian's must not start beside them.
    RUNLEVEL: '1',
  });
}

function isInstalled(program) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const versions = '/usr/lib/postgresql';
  if (existsSync(versions)) folders.push(...readdirSync(versions).map((v) => join(versions, v, 'bin')));
  return folders.some((folder) => existsSync(join(folder, program)));
}

function run(command, args, env = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (result.status === 0) return;
  say(`'${command} ${args.join(' ')}' failed${result.error ? `: ${result.error.message}` : ''}`);
  process.exit(1);
}

function say(text) {
  console.log(`setup: ${text}`);
}
