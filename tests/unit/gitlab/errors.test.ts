import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { NotFoundError, PermanentError } from '../../../src/errors.ts';
import { createGitlabClient } from '../../../src/gitlab/client.ts';
import { answerJson, createClient, failureOf, startServer, TOKEN } from './gitlab-server.ts';

async function failWith(status: number, body: unknown) {
  const { url, requests } = await startServer((_, response) => answerJson(response, body, { status }));
  const error = await failureOf(createClient(url).api.MergeRequestNotes.create(1, 2, 'hello'));
  return { error, requests };
}

const NOTES = 'POST /api/v4/projects/1/merge_requests/2/notes';

describe('what GitLab refuses', () => {
  it.each([
    [
      401,
      { error: 'invalid_token', error_description: 'Token is expired.' },
      '401, the token is invalid, expired or revoked: invalid_token; Token is expired.',
    ],
    [
      403,
      { error: 'insufficient_scope', error_description: 'More is required.', scope: 'api read_api' },
      '403, the token lacks a scope or its user lacks a role: insufficient_scope; More is required.; scope: api read_api',
    ],
    [400, { error: 'body is missing' }, '400, GitLab does not accept this request: body is missing'],
    [409, { message: '409 Conflict' }, '409, GitLab does not accept this request: 409 Conflict'],
    [
      422,
      { message: { note: ["can't be blank", 'is too short'], base: ['No'] } },
      "422, GitLab does not accept this request: note: can't be blank, is too short; No",
    ],
    [405, { message: ['one', 'two'] }, '405, GitLab does not accept this request: one, two'],
  ])('tells a person what a %i means, in GitLab’s own words', async (status, body, words) => {
    const { error, requests } = await failWith(status, body);

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).not.toBeInstanceOf(NotFoundError);
    expect(error).toHaveProperty('message', `${NOTES} was answered ${words}`);
    expect(requests).toHaveLength(1);
  });

  it('has an error of its own for what is not there', async () => {
    const { error, requests } = await failWith(404, { message: '404 Project Not Found' });

    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toHaveProperty(
      'message',
      `${NOTES} was answered 404, it is not there or this token may not see it: 404 Project Not Found`,
    );
    expect(requests).toHaveLength(1);
  });

  it('leaves out the web page that a proxy sends instead of words', async () => {
    const { url } = await startServer((_, response) =>
      response.writeHead(403, { 'content-type': 'text/html' }).end('<html>blocked</html>'),
    );

    const error = await failureOf(createClient(url).ping());

    expect(error).toHaveProperty('message', expect.stringMatching(/lacks a role$/));
  });

  it('refuses a JSON answer that would not fit into memory', async () => {
    const { url } = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(Buffer.alloc(65 * 1024 * 1024, ' '));
    });

    const error = await failureOf(createClient(url).api.Projects.show(1));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringContaining('more than 67108864 bytes'));
  });
});

describe('secrets', () => {
  it('keeps the token and the query out of every error, cause and log line', async () => {
    const seen: unknown[] = [];
    const log = {
      debug: (...entry: unknown[]) => seen.push(entry),
      warn: (...entry: unknown[]) => seen.push(entry),
    };
    const { url } = await startServer((request, response) => {
      const what = request.path.split('/').at(-1);
      if (what === 'broken') return response.destroy();
      if (what === 'redirect') return response.writeHead(302, { location: 'http://[' }).end();
      return answerJson(response, { message: `you sent ${request.token}` }, { status: Number(what) });
    });
    const client = createClient(url, { log });

    for (const what of ['400', '401', '403', '404', '422', '429', '500', '503', 'broken', 'redirect']) {
      const error = await failureOf(client.stream(what, { searchParams: { secret: 'in-the-query' } }));
      seen.push(error, JSON.stringify(error));
    }
    await client.close();
    seen.push(await failureOf(client.ping()));

    const everything = inspect(seen, { depth: Number.POSITIVE_INFINITY, showHidden: true });
    expect(everything).toContain('you sent [token]');
    expect(everything).not.toContain(TOKEN);
    expect(everything).not.toContain('in-the-query');
  });

  it('is not to be found in the client either', () => {
    const client = createClient('http://127.0.0.1:1');

    expect(inspect(client, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(TOKEN);
  });
});

describe('a client that can not work', () => {
  const options = { url: 'https://gitlab.example', token: TOKEN, timeoutMs: 1_000, maxRequestsPerMinute: 60 };

  it.each(['', 'glpat-with-newline\n', 'two words'])('refuses the token %j without repeating it', (token) => {
    expect(() => createGitlabClient({ ...options, token })).toThrow(
      new PermanentError('The GitLab token is empty or has blanks in it'),
    );
  });

  it.each(['gitlab.example', 'ftp://gitlab.example', 'https://me:pass@gitlab.example'])(
    'refuses the URL %s without repeating it',
    (url) => {
      expect(() => createGitlabClient({ ...options, url })).toThrow(
        new PermanentError("GitLab's URL must be https://host or https://host/path, without user and query"),
      );
    },
  );
});

describe('an answer that is packed although we ask for plain bytes', () => {
  it('is unpacked', async () => {
    const { url } = await startServer((_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync('{"id":1}')),
    );

    expect(await createClient(url).api.Projects.show(1)).toEqual({ id: 1 });
  });

  it('is given up when it would not fit into memory', async () => {
    const bomb = gzipSync(Buffer.alloc(70 * 1024 * 1024, ' '));
    const { url, requests } = await startServer((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb),
    );

    expect(await failureOf(createClient(url).api.Projects.show(1))).toHaveProperty(
      'message',
      expect.stringContaining('was answered with more than 67108864 bytes'),
    );
    expect(requests).toHaveLength(1);
  });
});
