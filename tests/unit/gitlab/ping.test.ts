import { describe, expect, it } from 'vitest';
import { PermanentError, RetryableError } from '../../../src/errors.ts';
import { answerJson, createClient, failureOf, startServer } from './gitlab-server.ts';

describe('ping', () => {
  it('asks once and is content with an answer', async () => {
    const { url, requests } = await startServer((_, response) => answerJson(response, { version: '18.0.0' }));

    await createClient(url).ping();

    expect(requests.map(({ path, token }) => [path, token])).toEqual([
      ['/api/v4/version', 'glpat-very-secret-token'],
    ]);
  });

  it('does not repeat: who asks for health wants to know now', async () => {
    const { url, requests } = await startServer((_, response) => response.writeHead(502).end());

    expect(await failureOf(createClient(url).ping())).toBeInstanceOf(RetryableError);
    expect(requests).toHaveLength(1);
  });

  it('notices that the URL leads to something else than GitLab', async () => {
    const { url } = await startServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Welcome</html>'),
    );

    const error = await failureOf(createClient(url).ping());

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringContaining("Check GitLab's URL"));
  });
});
