import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../../src/errors.ts';
import { answerJson, createClient, createFakeClock, failureOf, startServer } from './gitlab-server.ts';

describe('writes', () => {
  it('repeats a POST that was refused with 429, after the wait GitLab asked for', async () => {
    const clock = createFakeClock();
    const { url, requests } = await startServer((_, response, count) =>
      count === 1
        ? response.writeHead(429, { 'retry-after': '7' }).end('Retry later')
        : answerJson(response, { id: 5 }, { status: 201 }),
    );

    const note = await createClient(url, { clock }).api.MergeRequestNotes.create(1, 2, 'hello');

    expect(note.id).toBe(5);
    expect(requests.map(({ method, body }) => [method, body])).toEqual([
      ['POST', '{"body":"hello"}'],
      ['POST', '{"body":"hello"}'],
    ]);
    expect(clock.slept).toEqual([7_000]);
  });

  it('sends a POST once when its answer was lost, and says that the outcome is unknown', async () => {
    const { url, requests } = await startServer((_, response) => response.destroy());

    const error = await failureOf(createClient(url).api.MergeRequestNotes.create(1, 2, 'hello'));

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(/^POST \/api\/v4\/projects\/1\/merge_requests\/2\/notes .*outcome unknown/),
    );
    expect(error).toHaveProperty('cause.code', 'UND_ERR_SOCKET');
    expect(requests).toHaveLength(1);
  });

  it('sends a POST once when no answer came in time', async () => {
    const { url, requests } = await startServer(() => undefined);

    const error = await failureOf(
      createClient(url, { timeoutMs: 100 }).api.MergeRequestNotes.create(1, 2, 'hello'),
    );

    expect(error).toHaveProperty('message', expect.stringMatching(/no answer in time .*outcome unknown/));
    expect(requests).toHaveLength(1);
  });

  it('sends a POST once when the answer to it was cut off', async () => {
    const { url, requests } = await startServer((_, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"id":', () => response.destroy());
    });

    const error = await failureOf(createClient(url).api.MergeRequestNotes.create(1, 2, 'hello'));

    expect(error).toHaveProperty('message', expect.stringContaining('outcome unknown'));
    expect(requests).toHaveLength(1);
  });

  it.each([500, 502, 503, 504])('sends POST, PUT and DELETE once when answered %i', async (status) => {
    const { url, requests } = await startServer((_, response) => response.writeHead(status).end());
    const { MergeRequestNotes } = createClient(url).api;

    const errors = [
      await failureOf(MergeRequestNotes.create(1, 2, 'hello')),
      await failureOf(MergeRequestNotes.edit(1, 2, 3, { body: 'hello' })),
      await failureOf(MergeRequestNotes.remove(1, 2, 3)),
    ];

    for (const error of errors) {
      expect(error).toBeInstanceOf(RetryableError);
      expect(error).toHaveProperty('message', expect.stringContaining('outcome unknown'));
    }
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'PUT', 'DELETE']);
  });

  it('repeats a POST when there was no connection, and does not call its outcome unknown', async () => {
    const clock = createFakeClock();
    const client = createClient(await freeUrl(), { clock });

    const error = await failureOf(client.api.MergeRequestNotes.create(1, 2, 'hello'));

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(/could not reach GitLab \(ECONNREFUSED\)$/),
    );
    expect(clock.slept).toHaveLength(3);
  });
});

describe('reads', () => {
  it('repeats a GET until GitLab is back, waiting longer each time', async () => {
    const clock = createFakeClock();
    const { url, requests } = await startServer((_, response, count) =>
      count < 3 ? response.writeHead(502).end() : answerJson(response, { id: 1 }),
    );

    const project = await createClient(url, { clock }).api.Projects.show(1);

    expect(project.id).toBe(1);
    expect(requests).toHaveLength(3);
    const [first = Number.NaN, second = Number.NaN] = clock.slept;
    expect(first).toBeLessThanOrEqual(500);
    expect(second).toBeLessThanOrEqual(1_000);
  });

  it('repeats a GET whose body broke off', async () => {
    const { url, requests } = await startServer((_, response, count) => {
      if (count > 1) return answerJson(response, [{ id: 1 }]);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      return response.write('[{"id":', () => response.destroy());
    });

    const jobs = await createClient(url).api.Jobs.all(1);

    expect(jobs).toEqual([{ id: 1 }]);
    expect(requests).toHaveLength(2);
  });

  it('repeats a GET whose JSON is half, even if the connection looked fine', async () => {
    const { url } = await startServer((_, response, count) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(count > 1 ? '[{"id":1}]' : '[{"id"'),
    );

    expect(await createClient(url).api.Jobs.all(1)).toEqual([{ id: 1 }]);
  });

  it('repeats a GET that got no answer in time', async () => {
    const { url } = await startServer((_, response, count) => count > 1 && answerJson(response, { id: 1 }));

    expect(await createClient(url, { timeoutMs: 100 }).api.Projects.show(1)).toEqual({ id: 1 });
  });

  it('gives up after four tries, and leaves the rest to the queue', async () => {
    const { url, requests } = await startServer((_, response) => response.writeHead(500).end('oops'));

    const error = await failureOf(createClient(url).api.Projects.show(1));

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty('message', 'GET /api/v4/projects/1 was answered 500: oops');
    expect(requests).toHaveLength(4);
  });

  it('logs each repetition', async () => {
    const warnings: unknown[] = [];
    const log = { debug: () => undefined, warn: (...entry: unknown[]) => warnings.push(entry) };
    const { url } = await startServer((_, response, count) =>
      count === 1 ? response.writeHead(502).end() : answerJson(response, { id: 1 }),
    );

    await createClient(url, { log }).api.Projects.show(1);

    const fields = { request: 'GET /api/v4/projects/1', attempt: 1, waitMs: expect.any(Number) };
    expect(warnings).toEqual([[expect.objectContaining(fields), 'GitLab request is repeated']]);
  });
});

async function freeUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}
