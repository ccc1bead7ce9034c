// Secrets that the service gets while it runs: tokens that are renewed, logins that a library finds.
import { createHash } from 'node:crypto';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../src/redact/redactor.ts';

const ALWAYS = 'of-the-environment-1';
const TOKEN = 'minted/while+it.runs=7';
const bytes = Buffer.from(TOKEN);

describe('a secret that is told', () => {
  test.each([
    ['as it is', TOKEN],
    ['in base64', bytes.toString('base64')],
    ['in base64 of more', Buffer.from(`{"a":"${TOKEN}"}`).toString('base64')],
    ['percent-encoded', encodeURIComponent(TOKEN)],
    ['in hexadecimal', bytes.toString('hex')],
    ['over two lines', `${TOKEN.slice(0, 9)}\n${TOKEN.slice(9)}`],
  ])('is found %s from then on, and not before', (_, written) => {
    const redactor = createRedactor({ secrets: [ALWAYS] });
    expect(redactor.text(written)).toBe(written);

    redactor.openHolder()([TOKEN]);

    expect(redactor.text(written)).toContain('[redacted: own-secret]');
    expect(redactor.isClean({ a: written })).toBe(false);
    expect(redactor.text(ALWAYS)).toBe('[redacted: own-secret]');
  });

  test('is found by a stream that has begun before', async () => {
    const redactor = createRedactor({ secrets: [] });
    const stream = redactor.stream();
    const read = textOf(stream);
    stream.write(`${'a line of a log\n'.repeat(2_000)}`);

    redactor.openHolder()([TOKEN]);
    stream.end(`and then ${TOKEN} was printed`);

    expect(await read).toMatch(/and then \[redacted: own-secret] was printed$/);
  });

  test('stays known when the next one takes its place', () => {
    const redactor = createRedactor({ secrets: [ALWAYS] });
    const learn = redactor.openHolder();
    learn([TOKEN]);
    learn(['the-next-token-8']);
    expect(redactor.text(`${TOKEN} the-next-token-8`)).toBe('[redacted: own-secret] [redacted: own-secret]');
  });
});

/** As by chance: of tokens whose pieces begin alike, each would have to be looked at everywhere. */
const long = (name: string): string =>
  Array.from({ length: 12 }, (_, part) => createHash('sha512').update(`${name} ${part}`).digest('base64url'))
    .join('')
    .slice(0, 1_000);

test('what is held is never forgotten, however many others come and go; of those the last ones are remembered', () => {
  const redactor = createRedactor({ secrets: [ALWAYS] });
  const users = Array.from({ length: 60 }, (_, at) => long(`user${at}`));
  const [learn, learnRenewed] = [redactor.openHolder(), redactor.openHolder()];
  learn(users);
  for (let hour = 0; hour < 200; hour += 1) learnRenewed([long(`hour${hour}`)]);

  const isKnown = (secret: string): boolean => redactor.text(secret) !== secret;
  expect(users.filter((user) => !isKnown(user))).toEqual([]);
  expect(isKnown(ALWAYS)).toBe(true);
  const known = Array.from({ length: 200 }, (_, hour) => isKnown(long(`hour${hour}`)));
  expect(known.slice(-12)).toEqual(Array(12).fill(true));
  // Each costs time with every text, so there is an end to it.
  expect(known.filter(Boolean).length).toBeLessThan(40);
});

test('what two hold is known as long as one of them holds it', () => {
  const redactor = createRedactor({ secrets: [] });
  const [one, other] = [redactor.openHolder(), redactor.openHolder()];
  one([TOKEN]);
  other([TOKEN]);
  for (let hour = 0; hour < 100; hour += 1) one([long(`hour${hour}`)]);
  expect(redactor.text(TOKEN)).toBe('[redacted: own-secret]');
});

test('one that is too short is said once', () => {
  const said: number[] = [];
  const redactor = createRedactor({ secrets: ['abc'], onTooShort: (count) => said.push(count) });
  const learn = redactor.openHolder();
  learn(['abc', 'xyz', '']);
  learn(['xyz', '']);
  expect(said).toEqual([1, 1]);
});
