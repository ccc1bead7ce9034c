// Texts that are made to be slow. Times are compared with those of other texts in the same run, never with a clock.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMAND_RULES } from '../../../src/redact/command-rules.ts';
import { CONTEXT_RULES } from '../../../src/redact/context-rules.ts';
import { createRedactor } from '../../../src/redact/redactor.ts';
import { TOKEN_RULES } from '../../../src/redact/token-rules.ts';
import { readLabelledLogs } from '../../fixtures/labelled-logs.ts';

const OWN = Array.from({ length: 15 }, () => randomBytes(24).toString('base64url'));
const [own = ''] = OWN;
const redactor = createRedactor({ secrets: OWN });

const ROUNDS = 3;
const BYTES = 60_000;
/** The worst is about 20 times as slow as an ordinary log; without care, it was 300 times. */
const MAX_RATIO = 80;

const logs = readLabelledLogs(join(import.meta.dirname, '../../fixtures/logs'));
const ordinary = fill(logs.map(({ bytes }) => bytes.toString()).join('\n'), 10 * BYTES);
const msPerByte = timeOf(ordinary) / ordinary.length;

const PIECES = [
  ...[
    'password=',
    'password="',
    "password='a",
    'pwd:',
    'pwd=pwd:',
    'pwd:1...',
    'token:',
    'token:11',
    '_pass=',
  ],
  ...['secret_key=', 'passwd=$', 'apikey=a1b2c3d4e5', '--token ', '<token>', `${'-'.repeat(70)}token a `],
  ...['Authorization: ', 'authorization:', 'Authorization: Bearer ', 'bearer a', 'cookie: a=', '"auth": "'],
  ...['://a:', 'a://', 'https://a:b', 'https://a:b@', `x://${'a:'.repeat(400)}`, 'a@', 'curl ', 'curl -u '],
  ...['-----BEGIN ', '-----BEGIN RSA PRIVATE KEY-----', '-----BEGIN PRIVATE KEY-----END ', '-', 'X-----'],
  ...['eyJ', 'eyJa', 'eyJabcdefgh.', ' eyJaaaaaaaa.aaaaaaaa', 'a', '0', 'f', '\n', 'a\n', ' ', '\\', '%61'],
  ...['\u001b[', '\u001b[0m', '[redacted: token', '&amp;', 'login a password '],
];
const OF_OURS = [
  own.slice(0, 4),
  own.slice(0, 31),
  `${own.slice(0, 6)}\n`,
  `${own.slice(0, 4)}${' '.repeat(64)}`,
  own,
];
const OF_RULES = [...TOKEN_RULES, ...CONTEXT_RULES, ...COMMAND_RULES].flatMap(({ words }) =>
  words.slice(0, 2).flatMap((word) => [word, `${word} `]),
);

describe('a text of nothing but', () => {
  test.each(PIECES)('%j takes twice the time for twice the length', (piece) => {
    const [short, long] = [fill(piece, BYTES), fill(piece, 2 * BYTES)];
    // Again and again until both had the machine for themselves.
    let once = Number.POSITIVE_INFINITY;
    let twice = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 20 && !(twice / once < 3); round += 1) {
      once = Math.min(once, timeOf(short));
      twice = Math.min(twice, timeOf(long));
    }
    expect(twice / once).toBeLessThan(3);
  });

  test.each([
    ['pieces of what rules look for', PIECES],
    ['what raises the suspicion of a rule', OF_RULES],
    ['pieces of our secrets', OF_OURS],
  ])('%s is not much slower than an ordinary log', (_, pieces) => {
    const slow = [...new Set(pieces)]
      .map((piece) => ({ piece, ratio: timeOf(fill(piece, BYTES)) / BYTES / msPerByte }))
      .filter(({ ratio }) => ratio > MAX_RATIO);
    expect(slow).toEqual([]);
  });

  test.each([
    ['base64', randomBytes(BYTES).toString('base64')],
    ['hexadecimal digits', randomBytes(BYTES).toString('hex')],
    ['a value without end', `password=a1${'b2'.repeat(BYTES)}`],
    ['a key without end', `-----BEGIN ${'RSA'} PRIVATE KEY-----${'b2-'.repeat(BYTES)}`],
  ])('%s is not much slower, either', (_, text) => {
    expect(timeOf(text) / text.length / msPerByte).toBeLessThan(MAX_RATIO);
  });
});

test('small pieces cost no more than a few times what large ones do', () => {
  const text = fill('password=x "token": ', BYTES);
  const inPieces = (size: number) => (): void => {
    const pieces = redactor.pieces();
    for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
    pieces.end();
  };
  expect(best(inPieces(16)) / best(inPieces(65_536))).toBeLessThan(60);
});

test.each([
  ['one line', 'password=', 1],
  ['a million lines', 'a\n', 1],
  ['chunks of a kilobyte', 'token: ', 4_000],
])('while 4 MB are redacted, others have their turns: %s', async (_, piece, chunks) => {
  const bytes = Buffer.from(fill(piece, 4_000_000));
  const stream = redactor.stream().resume();
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const size = bytes.length / chunks;
  for (let at = 0; at < bytes.length; at += size) stream.write(bytes.subarray(at, at + size));
  stream.end();
  await new Promise((done) => stream.on('end', done));
  isOver = true;
  expect(turns).toBeGreaterThan(50);
});

function fill(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

function timeOf(text: string): number {
  return best(() => redactor.text(text));
}

/** The best of some rounds, since a machine does other things as well. */
function best(work: () => void): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = performance.now();
    work();
    return performance.now() - before;
  });
  return Math.max(0.2, Math.min(...times));
}
