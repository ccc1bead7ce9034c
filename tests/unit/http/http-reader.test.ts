// What every source's requests hold to, seen on the wire.

import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NotFoundError, PermanentError, RetryableError } from '../../../src/errors.ts';
import { createHttpReader, type HttpReaderOptions } from '../../../src/http/http-reader.ts';
import { answerJson, createFakeClock, failureOf, resolveTo, startServer } from '../gitlab/gitlab-server.ts';

const signal = new AbortController().signal;
const AUTH = { authorization: 'Bearer very-secret' };

function createReader(url: string, options: Partial<HttpReaderOptions> = {}) {
  const clock = createFakeClock();
  const reader = createHttpReader({
    who: 'the farm',
    url,
    authorize: async () => AUTH,
    timeoutMs: 1_000,
    clock,
    ...options,
  });
  onTestFinished(() => reader.close());
  return { ...reader, clock };
}

async function startAnswering(status: number, body: string, headers: Record<string, string> = {}) {
  return startServer((_, response) => response.writeHead(status, headers).end(body));
}

/** A byte now and then, so that it is never silent. */
async function startDripping() {
  return startServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('[');
    const drip = setInterval(() => response.write(' '), 20);
    response.once('close', () => clearInterval(drip));
  });
}

describe('an answer that is none', () => {
  test.each([
    [401, PermanentError, 'the token is invalid, expired or revoked'],
    [403, PermanentError, 'lacks a scope or its user lacks a role'],
    [404, NotFoundError, 'it is not there or this token may not see it'],
    [400, PermanentError, 'the farm does not accept this request'],
  ])('%i is final, with the words of the other side and without the token', async (status, kind, words) => {
    const message = JSON.stringify({ message: 'very-secret is not welcome' });
    const { url, requests } = await startAnswering(status, message);

    const error = await failureOf(createReader(url).getJson('things', {}, signal));

    expect(error).toBeInstanceOf(kind);
    expect(error).toHaveProperty('message', expect.stringContaining(words));
    expect(error).toHaveProperty('message', expect.stringContaining('[token] is not welcome'));
    expect(requests).toHaveLength(1);
  });

  test('of 5xx is asked for again, and given up in the end', async () => {
    const { url, requests } = await startAnswering(503, 'no');

    const error = await failureOf(createReader(url).getJson('things', {}, signal));

    expect(error).toBeInstanceOf(RetryableError);
    expect(requests).toHaveLength(4);
  });

  test('429 is obeyed: nothing is sent before the time it asks for', async () => {
    const { url } = await startServer((_, response, count) =>
      count === 1
        ? response.writeHead(429, { 'retry-after': '7' }).end()
        : answerJson(response, { fine: true }),
    );
    const reader = createReader(url);

    expect(await reader.getJson('things', {}, signal)).toEqual({ fine: true });
    expect(reader.clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(7_000);
  });

  test('a pause that is too long is given up at once, and so is what comes in it', async () => {
    const { url, requests } = await startServer((_, response) =>
      response.writeHead(429, { 'retry-after': '600' }).end(),
    );
    const reader = createReader(url);

    expect(await failureOf(reader.getJson('one', {}, signal))).toMatchObject({ retryAfterMs: 600_000 });
    expect(await failureOf(reader.getJson('two', {}, signal))).toHaveProperty(
      'message',
      expect.stringContaining('the farm asked for a pause of'),
    );
    expect(requests).toHaveLength(1);
  });

  test('silence ends after the timeout', async () => {
    const { url } = await startServer(() => undefined);

    const error = await failureOf(createReader(url, { timeoutMs: 100 }).getJson('things', {}, signal));

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty('message', expect.stringContaining('got no answer in time'));
  }, 15_000);

  test('that drips for ever is given up as a whole, once, and not asked for again', async () => {
    const { url, requests } = await startDripping();

    const error = await failureOf(createReader(url, { maxAnswerMs: 200 }).getJson('things', {}, signal));

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty(
      'message',
      'GET /things was not answered as a whole within 0.2 s and was given up',
    );
    expect(requests).toHaveLength(1);
  });

  test('that drips into a stream is given up after the time of streams, and what came is kept', async () => {
    const { url } = await startDripping();
    const reader = createReader(url, { maxAnswerMs: 1, maxStreamMs: 300 });

    const body = await reader.open('log', {}, signal);
    const chunks: Buffer[] = [];
    body.on('data', (chunk) => chunks.push(chunk));
    const error = await failureOf(finished(body));

    expect(Buffer.concat(chunks).toString()).toMatch(/^\[ +$/);
    expect(error).toHaveProperty(
      'message',
      'GET /log was not answered as a whole within 0.3 s and was given up',
    );
  });

  test('half an answer is asked for again', async () => {
    const { url } = await startServer((_, response, count) => {
      if (count > 1) return answerJson(response, [1]);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      return response.write('[1', () => response.destroy());
    });

    expect(await createReader(url).getJson('things', {}, signal)).toEqual([1]);
  });

  test('JSON that was cut by a server which did not notice is asked for again', async () => {
    const { url } = await startServer((_, response, count) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(count === 1 ? '{"items":[{"a":' : '{"items":[]}'),
    );

    expect(await createReader(url).getJson('things', {}, signal)).toEqual({ items: [] });
  });

  test.each([
    ['text/html', '<html>Log in</html>', /a web page, perhaps a login/],
    ['application/x-protobuf', 'k8s\0', /answered with application\/x-protobuf, not with JSON/],
  ])('of the content type %s is refused, once', async (contentType, body, words) => {
    const { url, requests } = await startAnswering(200, body, { 'content-type': contentType });

    const error = await failureOf(createReader(url).getJson('things', {}, signal));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringMatching(words));
    expect(requests).toHaveLength(1);
  });
});

describe('what is too large', () => {
  test('is refused as JSON', async () => {
    const { url } = await startAnswering(200, `"${'x'.repeat(2_000)}"`);

    const error = await failureOf(createReader(url, { maxJsonBytes: 1_000 }).getJson('x', {}, signal));

    expect(error).toHaveProperty('message', expect.stringContaining('more than 1000 bytes'));
  });

  test('is cut as a stream, which says so', async () => {
    const { url } = await startAnswering(200, 'x'.repeat(2_000));

    const body = await createReader(url, { maxStreamBytes: 10 }).open('x', {}, signal);

    expect(await text(body)).toBe('xxxxxxxxxx\n[reading stopped here, after 10 bytes; there is more]\n');
  });

  test('is cut at a line, so that no part of a secret is left', async () => {
    const { url } = await startAnswering(200, 'first\nits-token-is-4711\n');

    const body = await createReader(url, { maxStreamBytes: 18 }).open('x', {}, signal);

    expect(await text(body)).toMatch(/^first\n\n\[reading stopped here/);
  });

  test.each(['gzip', 'x-gzip'])('once it is unpacked counts as large (%s)', async (encoding) => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const { url } = await startServer((_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb),
    );
    const reader = createReader(url, { maxJsonBytes: 100_000, maxStreamBytes: 100_000 });

    expect(await failureOf(reader.getJson('x', {}, signal))).toHaveProperty(
      'message',
      expect.stringContaining('more than 100000 bytes'),
    );
    expect((await text(await reader.open('x', {}, signal))).length).toBeLessThan(101_000);
  });

  test('is unpacked when it is small, and an encoding that nobody knows is refused', async () => {
    const { url } = await startServer(({ path }, response) =>
      path === '/known'
        ? response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"ü":1}'))
        : response.writeHead(200, { 'content-encoding': 'zip' }).end('PK'),
    );
    const reader = createReader(url);

    expect(await reader.getJson('known', {}, signal)).toEqual({ ü: 1 });
    expect(await failureOf(reader.getJson('other', {}, signal))).toHaveProperty(
      'message',
      expect.stringContaining('the unknown encoding "zip"'),
    );
  });
});

describe('where a request goes', () => {
  test('is nowhere but to the hosts of the configuration', async () => {
    const elsewhere = await startAnswering(200, '{}');
    const { url } = await startServer((_, response) =>
      response.writeHead(302, { location: `${elsewhere.url}/steal` }).end(),
    );

    const error = await failureOf(createReader(url).getJson('things', {}, signal));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringContaining('is not in the configuration'));
    expect(elsewhere.requests).toEqual([]);
  });

  test('may be another host of the configuration, which does not get the token', async () => {
    const seen: (string | undefined)[] = [];
    const store = await startServer((_, response) => answerJson(response, { stored: true }));
    const { url } = await startServer((request, response) => {
      seen.push(request.path);
      return response.writeHead(307, { location: `${store.url}/file` }).end();
    });

    const reader = createReader(url, { otherOrigins: [new URL(store.url).origin] });

    expect(await reader.getJson('things', {}, signal)).toEqual({ stored: true });
    expect(seen).toEqual(['/things']);
    expect(store.requests[0]?.authorization).toBeUndefined();
  });

  test.each([
    'http://169.254.169.254',
    'http://2852039166',
    'http://[fe80::1]',
    'http://[::ffff:169.254.169.254]',
    'http://[fd00:ec2::254]',
    'http://0.0.0.0',
    'http://100.100.100.200',
  ])('is never %s, not even by configuration', async (url) => {
    const error = await failureOf(createReader(url).getJson('latest/meta-data', {}, signal));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringContaining('an address that is never connected to'));
  });

  test('is not a metadata address behind a redirect either', async () => {
    const target = 'http://169.254.169.254';
    const { url } = await startServer((_, response) =>
      response.writeHead(302, { location: `${target}/latest` }).end(),
    );

    const reader = createReader(url, { otherOrigins: [target] });

    expect(await failureOf(reader.getJson('x', {}, signal))).toHaveProperty(
      'message',
      expect.stringContaining('169.254.169.254, an address that is never connected to'),
    );
  });

  test('may be a name, whose addresses are looked at before one is used', async () => {
    const { url } = await startServer((_, response) => answerJson(response, { fine: true }));
    const named = url.replace('127.0.0.1', 'farm.example.com');
    const read = (address: string) =>
      createReader(named, { lookup: resolveTo(address) }).getJson('things', {}, signal);

    expect(await read('127.0.0.1')).toEqual({ fine: true });
    expect(await failureOf(read('169.254.169.254'))).toHaveProperty(
      'message',
      expect.stringContaining('farm.example.com leads to 169.254.169.254'),
    );
  });

  test.each(['../admin', 'a/%2e%2e/b', 'a/./b', 'a\nb'])('does not leave its path: %j', async (path) => {
    const { url, requests } = await startAnswering(200, '{}');

    expect(await failureOf(createReader(url).getJson(path, {}, signal))).toBeInstanceOf(PermanentError);
    expect(requests).toEqual([]);
  });
});

test('an abort ends a request, with its reason', async () => {
  const arrived = Promise.withResolvers<void>();
  const { url } = await startServer(() => arrived.resolve());
  const controller = new AbortController();
  const reason = new Error('shutting down');

  const running = createReader(url).getJson('things', {}, controller.signal);
  await arrived.promise;
  controller.abort(reason);

  expect(await failureOf(running)).toBe(reason);
});
