import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NotFoundError, PermanentError, RetryableError } from '../../../src/errors.ts';
import { answerJson, createClient, failureOf, startServer } from './gitlab-server.ts';

const MB = 1024 * 1024;

describe('stream', () => {
  it('gives the bytes, the headers and the status', async () => {
    const { url, requests } = await startServer((_, response) =>
      response.writeHead(206, { 'content-type': 'text/plain', 'x-part': 'first' }).end('log line'),
    );

    const { body, headers, status } = await createClient(url).stream('/projects/1/jobs/2/trace', {
      searchParams: { maxLines: 5, scope: ['failed', 'success'] },
    });

    expect([await text(body), headers['x-part'], status]).toEqual(['log line', 'first', 206]);
    expect(requests[0]?.path).toBe('/api/v4/projects/1/jobs/2/trace');
    expect(requests[0]?.query.toString()).toBe('max_lines=5&scope%5B%5D=failed&scope%5B%5D=success');
  });

  it('reads 100 MB at the reader’s pace, without collecting them', async () => {
    let sent = 0;
    const { url } = await startServer((_, response) => {
      const chunks = (function* () {
        for (; sent < 100 * MB; sent += MB) yield Buffer.alloc(MB);
      })();
      return pipeline(Readable.from(chunks), response).catch(() => undefined);
    });

    const { body } = await createClient(url).stream('projects/1/jobs/2/trace');
    let received = 0;
    let mostInBetween = 0;
    for await (const chunk of body) {
      // Slow at the start: whoever reads ahead without bound has everything by then.
      if (received === 0) await setTimeout(300);
      received += chunk.length;
      mostInBetween = Math.max(mostInBetween, sent - received);
    }

    expect(received).toBe(100 * MB);
    expect(mostInBetween).toBeLessThan(40 * MB);
  });

  it('repeats until the answer begins', async () => {
    const { url } = await startServer((_, response, count) =>
      response.writeHead(count < 3 ? 502 : 200).end('log'),
    );

    const { body } = await createClient(url).stream('projects/1/jobs/2/trace');

    expect(await text(body)).toBe('log');
  });

  it('says that a log is not there before any byte of it', async () => {
    const { url } = await startServer((_, response) =>
      answerJson(response, { message: '404 Not Found' }, { status: 404 }),
    );

    expect(await failureOf(createClient(url).stream('projects/1/jobs/2/trace'))).toBeInstanceOf(
      NotFoundError,
    );
  });

  it('ends a body that fell silent', async () => {
    const { url } = await startServer((_, response) => response.writeHead(200).write('a beginning'));

    const { body } = await createClient(url, { timeoutMs: 150 }).stream('projects/1/jobs/2/trace');
    const error = await failureOf(text(body));

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty(
      'message',
      'GET /api/v4/projects/1/jobs/2/trace got an answer that fell silent (UND_ERR_BODY_TIMEOUT)',
    );
  });

  it('does not mind a body that takes longer than the timeout, as long as it keeps coming', async () => {
    const { url } = await startServer(async (_, response) => {
      for (let part = 0; part < 8; part += 1) {
        response.write('.');
        await setTimeout(60);
      }
      response.end();
    });

    const { body } = await createClient(url, { timeoutMs: 250 }).stream('projects/1/jobs/2/trace');

    expect(await text(body)).toBe('........');
  });

  it('tells in our words that a body broke off', async () => {
    const { url } = await startServer((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half', () => response.destroy());
    });

    const { body } = await createClient(url).stream('projects/1/jobs/2/trace');
    const error = await failureOf(text(body));

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty('message', expect.stringContaining('got no whole answer'));
  });

  it('stops GitLab from sending when the reader has seen enough', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await startServer((_, response) => {
      response.once('close', closed.resolve);
      response.write('first line\n');
    });

    const { body } = await createClient(url, { timeoutMs: 60_000 }).stream('projects/1/jobs/2/trace');
    for await (const _ of body) break;

    await closed.promise;
    expect(body.destroyed).toBe(true);
  });

  it.each(['https://evil.example/log', '//evil.example/log', '\\\\evil.example/log'])(
    'stays on GitLab for the path %s',
    async (path) => {
      const { url, requests } = await startServer((_, response) => response.end('gitlab'));

      const { body } = await createClient(`${url}/sub/`).stream(path);

      expect(await text(body)).toBe('gitlab');
      expect(requests[0]?.path).toMatch(/^\/sub\/api\/v4\//);
    },
  );

  it.each([
    'projects/../users',
    'projects/1/..',
    '%2e%2E/users',
    'projects\\..\\users',
    'a/.\t./users',
    '../?',
  ])('refuses the path %j that leads elsewhere', async (path) => {
    const { url, requests } = await startServer((_, response) => response.end());
    const client = createClient(url);

    expect(await failureOf(client.stream(path))).toBeInstanceOf(PermanentError);
    expect(await failureOf(client.api.Projects.show('..'))).toBeInstanceOf(PermanentError);
    expect(requests).toEqual([]);
  });
});
