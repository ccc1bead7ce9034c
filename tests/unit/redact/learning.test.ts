// Secrets that the service gets while it runs: tokens that are renewed, logins that a library finds.
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createRedactor, type Redactor } from '../../../src/redact/redactor.ts';

const ALWAYS = 'of-the-environment-1';
const TOKEN = 'minted/while+it.runs=7';
const bytes = Buffer.from(TOKEN);

function arrange(...told: string[]): Redactor {
  const redactor = createRedactor({ secrets: [ALWAYS] });
  redactor.learn(told);
  return redactor;
}

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

    redactor.learn([TOKEN]);

    expect(redactor.text(written)).toContain('[redacted: own-secret]');
    expect(redactor.isClean({ a: written })).toBe(false);
    expect(redactor.text(ALWAYS)).toBe('[redacted: own-secret]');
  });

  test('is found by a stream that has begun before', async () => {
    const redactor = createRedactor({ secrets: [] });
    const stream = redactor.stream();
    const read = textOf(stream);
    stream.write(`${'a line of a log\n'.repeat(2_000)}`);

    redactor.learn([TOKEN]);
    stream.end(`and then ${TOKEN} was printed`);

    expect(await read).toMatch(/and then \[redacted: own-secret] was printed$/);
  });

  test('stays known when the next one takes its place', () => {
    const redactor = arrange(TOKEN);
    redactor.learn(['the-next-token-8']);
    expect(redactor.text(`${TOKEN} the-next-token-8`)).toBe('[redacted: own-secret] [redacted: own-secret]');
  });
});

test('the last ones are remembered, and those that are told again and again', () => {
  const tokenOf = (hour: number): string => `${hour}.`.padEnd(1_000, `token${hour}`);
  const redactor = arrange('told-with-each-request-1');
  for (let hour = 100; hour < 300; hour += 1) redactor.learn(['told-with-each-request-1', tokenOf(hour)]);

  const known = Array.from(
    { length: 200 },
    (_, index) => redactor.text(tokenOf(100 + index)) !== tokenOf(100 + index),
  );
  expect(known.slice(-12)).toEqual(Array(12).fill(true));
  // Each costs time with every text, so there is an end to it.
  expect(known.filter(Boolean).length).toBeLessThan(40);
  expect(redactor.text(`told-with-each-request-1 ${ALWAYS}`)).not.toMatch(/told|environment/);
});

test('one that is too short is said once', () => {
  const said: number[] = [];
  const redactor = createRedactor({ secrets: ['abc'], onTooShort: (count) => said.push(count) });
  redactor.learn(['abc', 'xyz', '']);
  redactor.learn(['xyz', '']);
  expect(said).toEqual([1, 1]);
});
