// What the product is made of: every package locked, under a licence we know, without known holes, and a bill of
// materials of it. Runs on any Node.js >= 20 and imports nothing but Node itself.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const HELP = `node scripts/supply-chain.mjs [--check] [--root DIR] [--out DIR]

  --check     look at locks and licences only, offline; exit 1 if something is wrong
  --root DIR  where package.json and package-lock.json are (this project)
  --out DIR   where the bill of materials goes (supply-chain/)`;

/** Whoever passes the product on has to do no more than to name them. */
const LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Unlicense',
  'WTFPL',
]);

/** Looked at by a person, each with the reason why it may stay. */
const EXCEPTIONS = {
  buildcheck: 'MIT, in an older form of package.json; optional, never built here',
  'cpu-features': 'MIT, in an older form of package.json; optional, never built here',
  ssh2: 'MIT, in an older form of package.json',
  'node-liblzma': 'LGPL-3.0; optional, not built here (allowScripts), and loaded as a library of its own',
};

const options = readOptions();
const lock = readJson(join(options.root, 'package-lock.json'));
const problems = [...findUnlocked(readJson(join(options.root, 'package.json'))), ...findUnknown(lock)];
for (const problem of problems) console.error(problem);
if (!options.check) report();
process.exitCode = problems.length > 0 ? 1 : process.exitCode;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        check: { type: 'boolean', default: false },
        root: { type: 'string', default: root },
        out: { type: 'string', default: join(root, 'supply-chain') },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (!values.help) return values;
    console.log(HELP);
    process.exit(0);
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`);
    process.exit(2);
  }
}

/** A range would let tomorrow's version in. */
function findUnlocked({ dependencies = {}, devDependencies = {}, overrides = {} }) {
  return Object.entries({ ...dependencies, ...devDependencies, ...overrides })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
    .map(
      ([name, version]) => `${name}: '${version}' is not one version; pin it with npm install --save-exact`,
    );
}

function findUnknown({ packages }) {
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .flatMap(([path, { license, integrity, dev, link }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      if (link || !integrity) return [`${name}: has no checksum in package-lock.json`];
      // What only tests and tools use is not passed on.
      if (dev || name in EXCEPTIONS || isKnown(license)) return [];
      return [
        `${name}: licence ${license ?? 'is not stated'}; look at it, then add it to scripts/supply-chain.mjs`,
      ];
    });
}

/** `(MIT OR GPL-3.0)` leaves the choice to us, `MIT AND GPL-3.0` does not. */
function isKnown(license) {
  if (!license) return false;
  return license
    .replaceAll(/[()]/g, '')
    .split(/ OR /)
    .some((choice) => choice.split(/ AND /).every((one) => LICENCES.has(one.trim())));
}

function report() {
  const shipped = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);
  const counts = new Map();
  for (const [, { license = 'not stated' }] of shipped) counts.set(license, (counts.get(license) ?? 0) + 1);
  console.log(`${shipped.length} packages are part of the product, by licence:`);
  for (const [license, count] of [...counts].sort((a, b) => b[1] - a[1]))
    console.log(`${String(count).padStart(5)}  ${license}`);
  for (const [name, reason] of Object.entries(EXCEPTIONS)) console.log(`       ${name}: ${reason}`);
  writeBill();
  reportAdvisories();
}

function writeBill() {
  const { stdout, status, stderr } = npm(['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev']);
  if (status !== 0) return fail(`npm sbom failed: ${stderr.trim()}`);
  mkdirSync(options.out, { recursive: true });
  const file = join(options.out, 'sbom.cdx.json');
  writeFileSync(file, stdout);
  console.log(`bill of materials: ${file} (CycloneDX, ${JSON.parse(stdout).components.length} components)`);
}

/** Not every registry has advisories; that it does not answer is said, and is no fault of the packages. */
function reportAdvisories() {
  const { stdout } = npm(['audit', '--json', '--omit', 'dev', '--audit=true']);
  const found = stdout.trim() === '' ? {} : JSON.parse(stdout);
  if (!found.metadata) return console.log('advisories: the registry did not answer; run it where it does');
  const { total, ...kinds } = found.metadata.vulnerabilities;
  console.log(`advisories: ${total} ${JSON.stringify(kinds)}`);
  for (const { name, severity, range, via } of Object.values(found.vulnerabilities)) {
    const why = via.map((one) => (typeof one === 'string' ? `by ${one}` : `${one.title} ${one.url}`));
    console.log(`  ${severity}: ${name} ${range} (${why.join('; ')})`);
  }
  if (kinds.high + kinds.critical > 0) fail('there are advisories that are high or critical');
}

function npm(args) {
  return spawnSync('npm', args, {
    cwd: options.root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
}

function fail(text) {
  console.error(text);
  process.exitCode = 1;
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
