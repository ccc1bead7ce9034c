// How fast secrets are taken out of a log, beside a plain copy of the same stream: `npm run bench:redact`.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createRedactor } from '../src/redact/redactor.ts';
import { readLabelledLogs } from '../tests/fixtures/labelled-logs.ts';

const MB = 1_000_000;
const CHUNK = 64 * 1024;
const ROUNDS = 5;
/** As many as a service with several sources holds. */
const SECRETS = Array.from({ length: 15 }, () => randomBytes(24).toString('base64url'));

const log = toLog(40 * MB);
const leaky = toLog(40 * MB, (line) => `${line}\nDB_PASSWORD=hunter2 glpat-${'x1'.repeat(10)} ${SECRETS[3]}`);
const redactor = createRedactor({ secrets: SECRETS });

/** Of the texts in tests/unit/redact/hostile.test.ts, those that take longest. */
const hostile = ['password="', 'pwd:1...', 'passwd=$', 'pwd:', 'password='];

await compare('an ordinary log', log);
await compare('a log with three secrets in every twentieth line', leaky);
for (const piece of hostile) await compare(`nothing but ${piece}`, Buffer.alloc(4 * MB, piece));
console.log(`\n${JSON.stringify(redactor.counts())}`);

/** In turn, so that both see the same machine. */
async function compare(what: string, bytes: Buffer): Promise<void> {
  const best = { copy: 0, redacted: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    best.copy = Math.max(best.copy, await speedOf(bytes, createCopy));
    best.redacted = Math.max(best.redacted, await speedOf(bytes, () => redactor.stream()));
  }
  console.log(`\n${what}, ${Math.round(bytes.length / MB)} MB in chunks of 64 KiB, the best of ${ROUNDS}`);
  console.log(`  copied    ${best.copy.toFixed(0).padStart(6)} MB/s`);
  console.log(
    `  redacted  ${best.redacted.toFixed(0).padStart(6)} MB/s   ${(best.redacted / best.copy).toFixed(2)}x`,
  );
}

function createCopy(): Transform {
  return new Transform({ transform: (chunk: Buffer, _encoding, done) => done(null, Buffer.from(chunk)) });
}

async function speedOf(bytes: Buffer, through: () => Transform): Promise<number> {
  const start = performance.now();
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(Readable.from(toChunks(bytes), { objectMode: false }), through(), nowhere);
  return bytes.length / MB / ((performance.now() - start) / 1000);
}

function* toChunks(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
}

/** Made of the logs of the fixtures, again and again, until it is so large. */
function toLog(size: number, change?: (line: string) => string): Buffer {
  const texts = readLabelledLogs(join(import.meta.dirname, '../tests/fixtures/logs')).map(({ bytes }) =>
    bytes.toString(),
  );
  const lines = texts.join('\n').split('\n');
  const once = Buffer.from(
    lines.map((line, index) => (change && index % 20 === 0 ? change(line) : line)).join('\n'),
  );
  return Buffer.concat(Array.from({ length: Math.ceil(size / once.length) }, () => once)).subarray(0, size);
}
