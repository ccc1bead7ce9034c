import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { createCanaries, createCanaryGuard, placeCanary } from '../../../src/jobs/canary.ts';
import { SandboxFullError } from '../../../src/sandbox/sandbox.ts';

const KEY = Buffer.from('a key of the service');
const canaries = createCanaries(KEY, 'session-1');
const { prompt } = canaries;

function guard() {
  const logged: unknown[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  return { ...createCanaryGuard(canaries, log), logged };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const spell = (spelling: (hex: string) => string) =>
  [...prompt].map((one) => spelling(one.charCodeAt(0).toString(16))).join('');
const reversed = [...prompt].reverse().join('');

test('are the same for a session wherever it runs, and nobody without the key knows them', () => {
  expect(createCanaries(Buffer.from(KEY), 'session-1')).toEqual(canaries);
  expect(createCanaries(KEY, 'session-2').prompt).not.toBe(prompt);
  expect(createCanaries(Buffer.from('other'), 'session-1').prompt).not.toBe(prompt);
  expect(canaries.sandbox).not.toBe(prompt);
});

describe('a line is withheld that has a mark', () => {
  test.each([
    ['as it is', prompt],
    ["the sandbox's", canaries.sandbox],
    ['in upper case', prompt.toUpperCase()],
    ['with blanks between', [...prompt].join(' ')],
    ['in groups', prompt.replaceAll(/(.{4})/g, '$1-')],
    ['with hidden signs between', [...prompt].join('\u200b')],
    ['with letters of another script between', [...prompt].join('ж')],
    ['with pictures between', [...prompt].join(' 🐦 ')],
    ['half of it', `begins with ${prompt.slice(0, 16)}`],
    ['the other half', `ends with ${prompt.slice(16)}`],
    ['backwards', reversed],
    ['in hexadecimal', Buffer.from(prompt).toString('hex')],
    ['in Base64', base64(prompt)],
    ['in Base64 of all the text', base64(`Internal mark: ${prompt})`)],
    ['in Base64 of a little more text', base64(`x ${prompt} y`)],
    ['backwards in Base64', base64(reversed)],
    ['a part of it', `has ${prompt.slice(5, 20)} in it`],
    ['percent-encoded', spell((hex) => `%${hex}`)],
    ['percent-encoded twice', spell((hex) => `%25${hex}`)],
    ['escaped for a shell', spell((hex) => `\\x${hex}`)],
    ['escaped as code points', spell((hex) => `\\u00${hex}`)],
    ['as entities', spell((hex) => `&#x${hex};`)],
    ['as entities in decimals', spell((hex) => `&#${Number.parseInt(hex, 16)};`)],
    ['as numbers', spell((hex) => `${Number.parseInt(hex, 16)}, `)],
    [
      'with letters moved by 13',
      prompt.replaceAll(/[a-f]/g, (one) => 'nopqrs'['abcdef'.indexOf(one)] ?? one),
    ],
    ['in wide letters', prompt.replaceAll(/./g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0))],
    [
      'in bold letters of mathematics',
      prompt.replaceAll(/[a-f]/g, (one) => String.fromCodePoint(0x1d41a + one.charCodeAt(0) - 97)),
    ],
  ])('%s', (_how, leak) => {
    const { clean, hasWithheld, logged } = guard();
    expect(clean(`Before.\nIt says: ${leak}.\nAfter.`)).toBe('Before.\n[withheld]\nAfter.');
    expect(hasWithheld()).toBe(true);
    expect(logged).toMatchObject([{ level: 40, msg: expect.stringContaining('withheld') }]);
    expect(JSON.stringify(logged)).not.toContain(prompt);
  });

  test('in parts among words, on lines with numbers', () => {
    const { clean } = guard();
    const parts = prompt.match(/.{16}/g)?.map((part, at) => `${at + 1}. the part is ${part} here`);
    expect(clean(`Before.\n${parts?.join('\n')}\nAfter.`)).toBe('Before.\n[withheld]\nAfter.');
  });

  test('over several lines', () => {
    const { clean } = guard();
    const leak = `${prompt.slice(0, 8)}\n${prompt.slice(8, 16)}`;
    expect(clean(`Before.\n${leak}\nAfter.`)).toBe('Before.\n[withheld]\nAfter.');
  });
});

test('other texts stay as they are', () => {
  const { clean, hasWithheld } = guard();
  const text = `commit ${'0123456789abcdef'.repeat(3)}\n${base64('an ordinary text of some length')}\n`;
  expect(clean(text)).toBe(text);
  expect(hasWithheld()).toBe(false);
});

test('a long text takes no long time', () => {
  const started = performance.now();
  guard().clean(`${prompt.slice(0, 15)} - `.repeat(20_000));
  expect(performance.now() - started).toBeLessThan(3_000);
});

test('a sandbox that is full goes without a mark', async () => {
  const writeFile = () => Promise.reject(new SandboxFullError('no room'));
  await expect(placeCanary({ writeFile }, canaries)).resolves.toBeUndefined();
});
