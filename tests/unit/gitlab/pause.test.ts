import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../../src/errors.ts';
import { answerJson, createClient, createFakeClock, failureOf, startServer } from './gitlab-server.ts';

describe('waits that GitLab asks for', () => {
  it('hands a long wait to the queue instead of sleeping through it', async () => {
    const clock = createFakeClock();
    const { url, requests } = await startServer((_, response) =>
      response.writeHead(503, { 'retry-after': '3600' }).end(),
    );

    const error = await failureOf(createClient(url, { clock }).api.Projects.show(1));

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty('retryAfterMs', 3_600_000);
    expect(requests).toHaveLength(1);
    expect(clock.slept).toEqual([]);
  });

  it('holds back every other request after a 429', async () => {
    const clock = createFakeClock();
    const { url } = await startServer((_, response, count) =>
      count === 1 ? response.writeHead(429, { 'retry-after': '20' }).end() : answerJson(response, { id: 1 }),
    );
    const client = createClient(url, { clock });
    await failureOf(client.ping());

    await client.withSignal(new AbortController().signal).api.Projects.show(1);

    expect(clock.slept).toEqual([20_000]);
  });

  it('does not even send other requests while a long pause lasts', async () => {
    const { url, requests } = await startServer((_, response) =>
      response.writeHead(429, { 'retry-after': '600' }).end(),
    );
    const client = createClient(url);
    await failureOf(client.api.Projects.show(1));

    const error = await failureOf(client.api.Projects.show(2));

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty('message', expect.stringContaining('GET /api/v4/projects/2 was not sent'));
    expect(error).toHaveProperty('retryAfterMs', 600_000);
    expect(requests).toHaveLength(1);
  });

  it('slows down when an answer says that the allowance is used up', async () => {
    const clock = createFakeClock();
    const now = Date.parse('2026-01-01T00:00:00Z');
    const { url } = await startServer((_, response) =>
      answerJson(
        response,
        { id: 1 },
        {
          headers: {
            date: new Date(now).toUTCString(),
            'ratelimit-remaining': '0',
            'ratelimit-reset': String(now / 1000 + 30),
          },
        },
      ),
    );
    const client = createClient(url, { clock });
    await client.api.Projects.show(1);
    expect(clock.slept).toEqual([]);

    await client.api.Projects.show(1);

    expect(clock.slept).toEqual([30_000]);
  });
});
