import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../src/redact/redactor.ts';
import { AHEAD, BACK } from '../../../src/redact/scanner.ts';
import { EXAMPLES, TOKENS, toLine } from './examples.ts';

const OWN = ['Own-s3cret/With+signs', 'another.own.secret.77', `gl${'pat'}-OwnOwnOwn0123456789`];
const redactor = createRedactor({ secrets: OWN });

const OWN_FORMS = OWN.flatMap((secret) => {
  const bytes = Buffer.from(secret);
  return [
    secret,
    `${secret.slice(0, 5)}\n${secret.slice(5)}`,
    bytes.toString('hex'),
    encodeURIComponent(secret),
    ...['', 'a', 'ab'].map((before) => Buffer.from(`${before}${secret}cde`).toString('base64')),
  ];
});
const KEY = `-----BEGIN ${'RSA'} PRIVATE KEY-----`;
const KEY_LINE = 'MIIEowIBAAKCAQEA2vR7tL5wN8pD4sF6gH1jC0yZuE3iO7bXaB3xK9mQ2vR7tL5w\n';
const KEYS = [
  `${KEY} is not in the log\nFAILED tests/test_key.py`,
  `${KEY}\n${KEY_LINE.repeat(20)}and then it broke`,
];
const SECRETS = [...EXAMPLES.map(toLine), ...OWN_FORMS, ...KEYS];

/** Secrets of every kind among words, so far apart that some are written before others come. */
const DOCUMENT = Buffer.from(
  SECRETS.map(
    (secret, index) => `line ${index} of a log\n${secret}\n${'nothing of note here; '.repeat(6)}\n`,
  ).join(''),
);

async function redactInChunks(bytes: Buffer, sizes: Iterable<number>): Promise<string> {
  const stream = redactor.stream();
  const out: Buffer[] = [];
  stream.on('data', (chunk) => out.push(chunk));
  let at = 0;
  for (const size of sizes) {
    if (at >= bytes.length) break;
    stream.write(bytes.subarray(at, at + size));
    at += size;
  }
  if (at < bytes.length) stream.write(bytes.subarray(at));
  stream.end();
  await new Promise((done) => stream.on('end', done));
  return Buffer.concat(out).toString('latin1');
}

function* sizesOf(first: number, then: number): Generator<number> {
  yield first;
  while (true) yield then;
}

describe('where a chunk ends', () => {
  const whole = Buffer.from(redactor.text(DOCUMENT.toString())).toString('latin1');

  test('every secret of the document is found', () => {
    for (const { secret } of EXAMPLES) expect(whole).not.toContain(secret.split('\n')[1] ?? secret);
    expect(whole.split('\n')).toHaveLength(DOCUMENT.toString().split('\n').length);
  });

  test.each([1, 3])('does not matter for chunks of %i bytes', async (size) => {
    const part = DOCUMENT.subarray(0, 9_000);
    const expected = Buffer.from(redactor.text(part.toString())).toString('latin1');
    expect(await redactInChunks(part, sizesOf(size, size))).toBe(expected);
  });

  test('does not matter, however the document is cut into chunks of one size', async () => {
    const size = 151;
    for (let first = 1; first <= size; first += 1) {
      const out = await redactInChunks(DOCUMENT, sizesOf(first, size));
      if (out !== whole) expect({ first, out }).toEqual({ first, out: whole });
    }
  }, 60_000);
});

describe('a secret at every offset around', () => {
  /** Raises no suspicion, so that something is judged as soon as a chunk is there. */
  const calm = (length: number): string => '~ '.repeat(length).slice(0, length);
  const around = calm(2 * BACK);
  const places = (secret: string): number[] =>
    Array.from({ length: secret.length + 9 }, (_, index) => around.length + index - 4);

  test('the end of a chunk', () => {
    for (const secret of SECRETS) {
      const text = `${around}${secret}${calm(AHEAD)}`;
      for (const place of places(secret)) expectSame(text, place);
    }
  });

  test('the end of what is judged at once', () => {
    for (const secret of SECRETS) {
      const text = `${around}${secret}${calm(3 * AHEAD)}`;
      for (const place of places(secret)) expectSame(text, place + AHEAD);
    }
  });

  test('the end of what is written at once', () => {
    // Suspicious, and nothing.
    const decoy = 'bear\ner ';
    for (const secret of SECRETS) {
      for (const place of places(secret)) {
        // Its last character that counts is where judging ends.
        const behind = place + BACK - decoy.trimEnd().length + 1 - around.length - secret.length;
        // A longer one is cut there by the test before.
        if (behind < 0) continue;
        const text = `${around}${secret}${calm(behind)}${decoy}${calm(3 * AHEAD)}`;
        expectSame(text, place + BACK + AHEAD - 1);
      }
    }
  });

  /** As if it had come at once; of the first chunk, something is passed on before the second one comes. */
  function expectSame(text: string, firstChunk: number): void {
    const pieces = redactor.pieces();
    const first = pieces.push(text.slice(0, firstChunk));
    const out = first + pieces.push(text.slice(firstChunk)) + pieces.end();
    const expected = inOnePiece(text);
    if (first === '' || out !== expected || !out.includes('[redacted: '))
      expect({ firstChunk, first, out }).toEqual({ firstChunk, first: 'something', out: expected });
  }

  let last = { text: '', out: '' };
  function inOnePiece(text: string): string {
    if (last.text === text) return last.out;
    const pieces = redactor.pieces();
    last = { text, out: pieces.push(text) + pieces.end() };
    return last.out;
  }
});

test('one pass finds the shapes that several would, whatever other secret stands right beside them', () => {
  const SHAPED = TOKENS.filter(({ secret }) => !secret.includes('\n'));
  const lines = [...EXAMPLES.map(toLine), ...KEYS, ...OWN];
  const left: string[] = [];
  for (const one of SHAPED) {
    for (const other of lines) {
      for (const text of [`${other}${toLine(one)}`, `${toLine(one)} ${other}`, `${other}\n${toLine(one)}`]) {
        const pieces = redactor.pieces();
        const out = pieces.push(text) + pieces.end();
        const core = one.secret.slice(-12);
        if (out.includes(core) && !redactor.text(text).includes(core)) left.push(text);
      }
    }
  }
  expect(left).toEqual([]);
});

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SECRETS) },
  { weight: 2, arbitrary: fc.constantFrom(...SECRETS.flatMap((one) => [one.slice(0, 9), one.slice(-9)])) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '\n',
      ' ',
      '=',
      '"',
      "'",
      ':',
      '/',
      '@',
      '\\',
      '-',
      '_',
      '.',
      '%',
      '&',
      'password=',
      'https://',
      '[',
      ']',
      'é',
      '\u00a0',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.nat(9_000).map((count) => 'filler '.repeat(count / 7)) },
  { weight: 1, arbitrary: fc.nat(9_000).map((count) => 'aB3xK9mQ2v'.repeat(count / 10)) },
);
const texts = fc.array(piece, { maxLength: 24 }).map((parts) => parts.join(''));

describe('whatever the text is', () => {
  test('any split of its bytes gives the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.array(fc.integer({ min: 1, max: 12_000 }), { maxLength: 12 }),
        async (text, sizes) => {
          const bytes = Buffer.from(text);
          expect(await redactInChunks(bytes, sizes)).toBe(await redactInChunks(bytes, []));
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);

  test('redacting it twice changes nothing, and its lines keep their numbers', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = redactor.text(text);
        expect(redactor.text(once)).toBe(once);
        expect(once.split('\n')).toHaveLength(text.split('\n').length);
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  test('no secret of the service is left in it', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(...OWN_FORMS), texts, (before, own, after) => {
        const out = redactor.text(before + own + after);
        for (const form of [...OWN, ...OWN.map((one) => Buffer.from(one).toString('hex'))])
          expect(out).not.toContain(form);
        if (!(before + after).includes(own.slice(3, 16))) expect(out).not.toContain(own.slice(3, -3));
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});

test('a line without end needs little memory', async () => {
  const stream = redactor.stream();
  let longest = 0;
  let read = 0;
  stream.on('data', (chunk: Buffer) => {
    read += chunk.length;
  });
  for (let written = 0; written < 20_000_000; written += 65_536) {
    if (!stream.write(Buffer.alloc(65_536, 'filler of a line without an end; '))) await once(stream, 'drain');
    longest = Math.max(longest, written + 65_536 - read);
  }
  expect(longest).toBeLessThan(200_000);
  stream.end();
});

test('a text that comes bit by bit is passed on while it comes', () => {
  const pieces = redactor.pieces();
  const secret = `gl${'pat'}-aB3xK9mQ2vR7tL5wN8pD`;
  const heard = [...`The log says ${secret}; ${'So it was printed by the job. '.repeat(400)}`].map((one) =>
    pieces.push(one),
  );
  expect(heard.join('')).toContain('The log says [redacted: gitlab-token]; So');
  expect((heard.join('') + pieces.end()).length).toBe(13 + 24 + 2 + 400 * 30);
});
