import { once } from 'node:events';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { PermanentError, RetryableError } from '../../../src/errors.ts';
import type { SourceAnswer } from '../../../src/sources/source.ts';
import { createToolbox } from '../../services/redactor.ts';
import { call } from './calling.ts';
import { createFakeSource, fakeTool, json, text } from './fake-source.ts';
import { createMemorySandbox } from './memory-sandbox.ts';

test('a small value comes inline, as the value it is', async () => {
  const { outcome } = await ask(() => json({ title: 'Fix auth', labels: ['ci'] }));

  expect(outcome).toEqual({ result: { result: { title: 'Fix auth', labels: ['ci'] } }, isError: false });
});

test.each([
  ['a string', 'grün'],
  [
    'a stream',
    Readable.from([Buffer.from('gr\u00fcn').subarray(0, 3), Buffer.from('gr\u00fcn').subarray(3)]),
  ],
])('a small text comes inline, be it %s', async (_, body) => {
  const { outcome, sandbox } = await ask(() => text(body));

  expect(outcome).toEqual({ result: { result: 'grün' }, isError: false });
  expect(sandbox.files.size).toBe(0);
});

test('a large value is saved as JSON that jq can read, and its shape is shown', async () => {
  const value = Array.from({ length: 200 }, (_, id) => ({ id, name: `job ${id}` }));
  const { outcome, sandbox } = await ask(() => json(value));

  const saved = sandbox.files.get('/tmp/_out/0.txt');
  expect(JSON.parse(String(saved))).toEqual(value);
  expect(outcome).toEqual({
    result: {
      preview: [
        '[shape of the JSON, all is in /tmp/_out/0.txt]',
        '[200 items with the same keys: {id: 0, name: "job 0"}, {id: 1, name: "job 1"}, … 198 more items]',
      ].join('\n'),
      saved_to: '/tmp/_out/0.txt',
      bytes: saved?.length,
    },
    isError: false,
  });
});

test('the shape of a value that has no end needs no more than 4 KB', async () => {
  const value = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`größe-${n}`, 'ß'.repeat(n)]));
  const { outcome } = await ask(() => json(value));

  const size = Buffer.byteLength(String(outcome.result.preview));
  expect(size).toBeLessThanOrEqual(4_096);
  expect(size).toBeGreaterThan(4_000);
});

test('of a value that has no room in the sandbox the shape is there, and that the rest is lost', async () => {
  const sandbox = createMemorySandbox({}, { maxBytes: 10 });
  const { outcome } = await ask(() => json({ log: 'x'.repeat(9_000) }), { sandbox });

  expect(outcome.isError).toBe(false);
  expect(outcome.result).not.toHaveProperty('saved_to');
  expect(outcome.result.preview).toMatch(
    /^\[.*lost, because the sandbox is full.*\]\n.*\(9000 characters\)/s,
  );
});

test('a text that happens to be JSON is previewed as the text it is', async () => {
  const { outcome } = await ask(() => text(JSON.stringify({ log: 'x'.repeat(9_000) })));

  expect(outcome.result.preview).toMatch(/^\{"log":"xxx.*bytes left out.*xxx"\}$/s);
});

test.each([
  ['small', 10],
  ['large', 50_000],
])('a %s stream that is no text is named, not shown, and in a file byte by byte', async (_, size) => {
  const bytes = gzipSync(Buffer.from(Array.from({ length: size }, (_, n) => (n * n) % 251)), { level: 0 });
  const { outcome, sandbox } = await ask(() =>
    text(Readable.from([bytes.subarray(0, 5), bytes.subarray(5)])),
  );

  expect(bytes.equals(sandbox.files.get('/tmp/_out/0.txt') ?? Buffer.of())).toBe(true);
  expect(outcome.result).toEqual({
    preview: expect.stringMatching(
      `^\\[binary: gzip, ${bytes.length} bytes; all is in /tmp/_out/0.txt: use zcat.* on it\\]$`,
    ),
    saved_to: '/tmp/_out/0.txt',
    bytes: bytes.length,
  });
});

test('a NUL within the first 8 KB of a stream is found', async () => {
  const { outcome } = await ask(() => text(Readable.from(['x'.repeat(8_000), '\0', 'x'.repeat(8_000)])));

  expect(outcome.result.preview).toMatch(/^\[binary: unknown kind, 16001 bytes/);
});

test('a large stream is saved byte by byte and previewed by its ends', async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`);
  const { outcome, sandbox } = await ask(() => text(Readable.from(lines)));

  const whole = lines.join('');
  expect(String(sandbox.files.get('/tmp/_out/0.txt'))).toBe(whole);
  expect(outcome.result).toMatchObject({ saved_to: '/tmp/_out/0.txt', bytes: whole.length });
  expect(outcome.result.preview).toMatch(/^line 0\nline 1\n.*line 19999\n$/s);
  expect(String(outcome.result.preview).length).toBeLessThan(4300);
});

test('large answers to calls at the same time are in files in the order of the calls', async () => {
  const last = Promise.withResolvers<void>();
  const read = fakeTool('farm_read', z.strictObject({ id: z.int() }), async ({ id }) => {
    if (id === 2) last.resolve();
    await last.promise;
    // The one that let the others go is done before them.
    if (id !== 2) await new Promise((resolve) => setImmediate(resolve));
    return id === 1 ? json('small') : text(`${id}\n`.repeat(5_000));
  });
  const toolbox = createToolbox({
    sandbox: createMemorySandbox(),
    sources: [createFakeSource('farm', [read])],
  });

  const outcomes = await Promise.all([0, 1, 2].map((id) => call(toolbox, 'farm_read', { id })));

  expect(outcomes.map(({ result }) => result.saved_to ?? result.result)).toEqual([
    '/tmp/_out/0.txt',
    'small',
    '/tmp/_out/2.txt',
  ]);
});

test.each([
  [new RetryableError('GET /x was answered 503'), /^farm_read: GET \/x was answered 503 \(.*later.*gap/],
  [
    new PermanentError('GET /x was answered 403'),
    /^farm_read: GET \/x was answered 403 \(the same call will fail/,
  ],
  [new TypeError('boom'), /^farm_read: boom \(unexpected/],
])('a source that fails with %s is a gap with a name and advice', async (failure, words) => {
  const { outcome } = await ask(() => Promise.reject(failure));

  expect(outcome).toEqual({ result: { error: expect.stringMatching(words) }, isError: true });
});

test.each([1, 100])(
  'a stream that breaks off after %i KB is an error, not a short answer',
  async (kilobytes) => {
    const { outcome, sandbox } = await ask(() => text(Readable.from(breaking(kilobytes))));

    expect(outcome).toEqual({
      result: { error: expect.stringMatching(/^farm_read: got no whole answer/) },
      isError: true,
    });
    expect(sandbox.files.size).toBe(0);
  },
);

test('a source that can not be saved is let go, and the model told to make room', async () => {
  const body = Readable.from(endless());
  const closed = once(body, 'close');
  const sandbox = createMemorySandbox({}, { maxBytes: 1000 });
  const refusing = { ...sandbox, writeFile: async () => sandbox.writeFile('/tmp/x', 'x'.repeat(2000)) };
  const { outcome } = await ask(() => text(body), { sandbox: refusing });

  expect(outcome).toEqual({
    result: { error: expect.stringMatching(/no room left: remove files/) },
    isError: true,
  });
  await closed;
});

test('an abort while the source is being read is thrown with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('shutting down');
  const waiting = (signal: AbortSignal) =>
    new Promise<SourceAnswer>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

  const asked = ask(waiting, { signal: controller.signal });
  controller.abort(reason);

  await expect(asked).rejects.toBe(reason);
});

async function ask(
  read: (signal: AbortSignal) => Promise<SourceAnswer>,
  { sandbox = createMemorySandbox(), signal = new AbortController().signal } = {},
) {
  const tool = fakeTool('farm_read', z.strictObject({}), (_args, readSignal) => read(readSignal));
  const toolbox = createToolbox({ sandbox, sources: [createFakeSource('farm', [tool])] });
  return { sandbox, outcome: await call(toolbox, 'farm_read', {}, signal) };
}

async function* breaking(kilobytes: number) {
  for (let sent = 0; sent < kilobytes; sent += 1) yield 'x'.repeat(1024);
  throw new RetryableError('got no whole answer');
}

async function* endless() {
  for (;;) yield 'x'.repeat(1024);
}
