import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../src/redact/redactor.ts';

const OWN = 'Own-s3cret/With+signs&50%';
const REMOVED = '[redacted: own-secret]';
const { text: redact } = createRedactor({ secrets: [OWN] });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a secret of the service is found', () => {
  test.each([
    ['as it is', OWN],
    ['within a word', `x${OWN}y`],
    ['over two lines', `${OWN.slice(0, 2)}\n${OWN.slice(2)}`],
    ['one character a line', OWN.split('').join('\n')],
    ['on lines of a diff', `${OWN.slice(0, 5)}\n+${OWN.slice(5, 12)}\n-${OWN.slice(12)}`],
    ['indented on lines', `${OWN.slice(0, 9)}\r\n    ${OWN.slice(9)}`],
    [
      'on lines with the stamps of GitLab',
      `${OWN.slice(0, 3)}\n2026-11-18T09:30:00.000000Z 01O ${OWN.slice(3)}`,
    ],
    ['with colours in it', `${OWN.slice(0, 7)}\u001b[0;1m${OWN.slice(7)}`],
    ['with line breaks as JSON has them', `${OWN.slice(0, 7)}\\n${OWN.slice(7)}`],
    ['continued by backslashes', `${OWN.slice(0, 7)}\\\n${OWN.slice(7)}`],
    ['percent-encoded', encodeURIComponent(OWN)],
    [
      'percent-encoded in lower case',
      encodeURIComponent(OWN).toLowerCase().replace('own-s3cret', 'Own-s3cret').replace('with', 'With'),
    ],
    [
      'percent-encoded, every character',
      Array.from(Buffer.from(OWN), (byte) => `%${byte.toString(16)}`).join(''),
    ],
    ['in an address', new URL(`https://x:${encodeURIComponent(OWN)}@h/`).password],
    ['in HTML', OWN.replaceAll('&', '&amp;')],
    ['in JSON of Go', OWN.replaceAll('&', '\\u0026').replaceAll('/', '\\/')],
    ['in hexadecimal', Buffer.from(OWN).toString('hex')],
    ['in capital hexadecimal', Buffer.from(OWN).toString('hex').toUpperCase()],
    [
      'hexadecimal on lines',
      (
        Buffer.from(OWN)
          .toString('hex')
          .match(/.{1,16}/g) ?? []
      ).join('\n'),
    ],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(OWN))],
    ['percent-encoded twice, every character', spell((hex) => `%25${hex}`)],
    ['in hexadecimal with colons', spell((hex) => hex, ':')],
    ['in hexadecimal with dashes', spell((hex) => hex.toUpperCase(), '-')],
    ['in hexadecimal with blanks', spell((hex) => hex, ' ')],
    ['as bytes of an array', spell((hex) => `0x${hex}`, ', ')],
    ['as bytes on lines', spell((hex) => `0x${hex}`, ',\n  ')],
    ['escaped for a shell', spell((hex) => `\\x${hex}`)],
    ['escaped as code points', spell((hex) => `\\u00${hex}`)],
    ['as entities of HTML', spell((hex) => `&#x${hex};`)],
  ])('%s', (_, text) => {
    const out = redact(`before ${text} after`);
    expect(out).toContain(REMOVED);
    expect(out).not.toContain(OWN.slice(4, 10));
    expect(out.replaceAll(/[^\n]/g, '')).toBe(text.replaceAll(/[^\n]/g, ''));
    expect(out).toMatch(/^before /);
    expect(out).toMatch(/ after$/);
  });

  test.each([
    ['in base64', base64(OWN)],
    ['in base64 for addresses', Buffer.from(OWN).toString('base64url')],
    ['behind one byte', base64(`u${OWN}`)],
    ['behind a user', base64(`user:${OWN}`)],
    ['behind a longer user', base64(`users:${OWN}`)],
    ['in the midst of JSON', base64(JSON.stringify({ a: 1, password: OWN.replaceAll('&', '-') }))],
    [
      'in wrapped base64',
      (base64(`some text before it: ${OWN} and some text behind it`).match(/.{1,13}/g) ?? []).join('\n'),
    ],
    ['in base64 within base64', base64(`{"auth":"${base64(`user:${OWN}`)}"}`)],
    ['percent-encoded base64', encodeURIComponent(base64(OWN))],
  ])('%s', (_, text) => {
    const secret = OWN.replaceAll('&', '-');
    const { text: redact } = createRedactor({ secrets: [OWN, secret] });
    const out = redact(text);
    const inside = decodeAll(out);
    expect(out).toContain(REMOVED);
    expect(inside).not.toContain('s3cret');
  });

  test('a private key, whole or a part of it, as PEM, as JSON and in base64', () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const { text: redact } = createRedactor({ secrets: [privateKey] });
    const lines = privateKey.split('\n');
    const body = lines.slice(1, -2).join('');
    const windows = Array.from({ length: body.length - 40 }, (_, at) => body.slice(at, at + 40));
    const texts = [
      privateKey,
      JSON.stringify({ k: privateKey }),
      lines[5] ?? '',
      base64(privateKey),
      base64(`x${privateKey}`),
    ];
    for (const text of texts) {
      const out = redact(text) + decodeAll(redact(text));
      expect(windows.some((part) => out.replaceAll(/\s|\\n/g, '').includes(part))).toBe(false);
      expect(redact(text).split('\n')).toHaveLength(text.split('\n').length);
    }
  });
});

test('a private key within JSON, in base64 and in hexadecimal', () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const { text: redact } = createRedactor({ secrets: [privateKey] });
  const body = privateKey.split('\n').slice(1, -2).join('');
  const windows = Array.from({ length: body.length - 20 }, (_, at) => body.slice(at, at + 20));
  const json = JSON.stringify({ type: 'service_account', private_key: privateKey });
  const hex = redact(Buffer.from(json).toString('hex')).match(/(?:[\da-f]{2})+/g) ?? [];
  const left = [
    ...['', 'x', 'xy'].map((before) => decodeAll(redact(base64(before + json)))),
    ...hex.map((run) => Buffer.from(run, 'hex').toString('latin1')),
  ].join('\n');
  expect(windows.filter((part) => left.replaceAll('\\n', '').includes(part))).toEqual([]);
});

describe('split over two lines, wherever, it is found behind', () => {
  test.each([
    '+',
    '-',
    '+ ',
    '- ',
    '> ',
    '>> ',
    '| ',
    '# ',
    ' * ',
    '  12| ',
    '    12\t',
    '12: ',
    '[09:30:00] ',
    '09:30:00.123 ',
    '2026-11-18 09:30:00,123 ',
    '2026-11-18T09:30:00Z ',
    '2026/11/18 09:30:00 + ',
    '[2026-11-18T09:30:00.123+01:00] ',
    '2026-11-18T09:30:00.000000Z 01O ',
    '2026-11-18T09:30:00.000000Z 01O+',
    '2026-11-18T09:30:00.000000Z 01O 2026-11-18 09:30:00,123 ',
    '#12 0.345 ',
  ])('%j', (prefix) => {
    for (let at = 1; at < OWN.length; at += 1) {
      const out = redact(`${prefix}x ${OWN.slice(0, at)}\n${prefix}${OWN.slice(at)}\n${prefix}y`);
      expect(out).toBe(`${prefix}x ${REMOVED}\n\n${prefix}y`);
    }
  });
});

test('escaped characters of a secret go with it, so that JSON stays JSON', () => {
  const json = `{"a":"${spell((hex) => `\\u00${hex}`)}"}`;
  expect(JSON.parse(redact(json))).toEqual({ a: REMOVED });
});

test('secrets that are too short to be told from words are left, and it is said', () => {
  const said: number[] = [];
  const { text } = createRedactor({
    secrets: ['main', 'abc', 'long-enough-1'],
    onTooShort: (count) => said.push(count),
  });
  expect(text('main long-enough-1')).toBe(`main ${REMOVED}`);
  expect(said).toEqual([2]);
});

test('a backslash before a secret hides neither it nor breaks JSON', () => {
  const { text } = createRedactor({ secrets: ['token-of-ours-77', '/starts/with/slash'] });
  expect(text('C:\\token-of-ours-77')).not.toContain('of-ours');
  expect(JSON.parse(text('{"a":"\\/starts\\/with\\/slash"}'))).toEqual({ a: REMOVED });
});

function spell(spelling: (hex: string) => string, between = ''): string {
  return Array.from(Buffer.from(OWN), (byte) => spelling(byte.toString(16).padStart(2, '0'))).join(between);
}

/** Whatever of it can be read as base64, at each of its beginnings, twice. */
function decodeAll(text: string, depth = 2): string {
  const runs = text.replaceAll(/\s|%3D|\\n/g, '').match(/[A-Za-z0-9+/_-]{4,}/g) ?? [];
  const decoded = runs
    .flatMap((run) => [0, 1, 2, 3].map((skip) => Buffer.from(run.slice(skip), 'base64').toString('latin1')))
    .join('\n');
  return depth > 1 ? decoded + decodeAll(decoded, depth - 1) : decoded;
}

test.each(['S3cret%Passw0rd', '100%Sicher!!', 'a%25b%2525c', '%%%Own%'])(
  'a secret with percent signs, as %s, is found however often it is encoded',
  (secret) => {
    const { text } = createRedactor({ secrets: [secret] });
    const once = encodeURIComponent(secret);
    for (const written of [secret, once, encodeURIComponent(once)])
      expect(text(`a ${written} b`)).toBe(`a ${REMOVED} b`);
  },
);

test('a secret with a backslash is found in an address', () => {
  const secret = 'Pass\\w0rd/of+ours';
  const { text } = createRedactor({ secrets: [secret] });
  for (const written of [encodeURIComponent(secret), encodeURIComponent(encodeURIComponent(secret))])
    expect(text(`a=${written}&b`)).toBe(`a=${REMOVED}&b`);
});

test('a long key is found in base64 of base64, as of a secret within a secret', () => {
  const key = `sk-${'aZ3kQ9x'.repeat(22)}`;
  const { text } = createRedactor({ secrets: [key] });
  for (const around of ['', 'k', 'ke'])
    expect(text(base64(base64(`${around}${key}`)))).not.toMatch(/[A-Za-z0-9]{60}/);
});
