import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { PermanentError, RetryableError } from '../../../src/errors.ts';
import { answerJson, createClient, failureOf, startServer, TOKEN } from './gitlab-server.ts';

async function startStore(status = 200, contentType = 'application/zip') {
  return startServer((_, response) =>
    response.writeHead(status, { 'content-type': contentType }).end('bytes'),
  );
}

async function startRedirecting(location: string, status = 302) {
  return startServer((_, response) => response.writeHead(status, { location }).end());
}

/** A client that may follow GitLab to this store. */
function createFollowing(gitlabUrl: string, storeUrl: string) {
  return createClient(gitlabUrl, { fileHosts: [new URL(storeUrl).host] });
}

describe('a redirect to another origin', () => {
  it('is followed for a stream, without the token', async () => {
    const store = await startStore();
    const gitlab = await startRedirecting(`${store.url}/bucket/artifacts.zip?signature=abc`);

    const { body } = await createFollowing(gitlab.url, store.url).stream('projects/1/jobs/2/artifacts');

    expect(await text(body)).toBe('bytes');
    expect(gitlab.requests[0]?.token).toBe(TOKEN);
    expect(store.requests.map(({ path, token }) => [path, token])).toEqual([
      ['/bucket/artifacts.zip', undefined],
    ]);
    expect(store.requests[0]?.query.get('signature')).toBe('abc');
  });

  it('does not bring the token back to GitLab', async () => {
    const gitlab = await startServer((request, response) =>
      request.path === '/chosen/by/others'
        ? response.end(String(request.token))
        : response.writeHead(302, { location: `${store.url}/` }).end(),
    );
    const store = await startServer((_, response) =>
      response.writeHead(302, { location: `${gitlab.url}/chosen/by/others` }).end(),
    );

    const { body } = await createFollowing(gitlab.url, store.url).stream('projects/1/jobs/2/artifacts');

    expect(await text(body)).toBe('undefined');
  });

  it.each([302, 307])('is an error for a call (%i), and nothing is sent there', async (status) => {
    const other = await startStore();
    const { url } = await startRedirecting(`${other.url}/login?state=secret`, status);
    const { api } = createClient(url);

    const errors = [
      await failureOf(api.Projects.show(1)),
      await failureOf(api.MergeRequestNotes.create(1, 2, 'hello')),
    ];

    for (const error of errors) {
      expect(error).toBeInstanceOf(PermanentError);
      expect(error).toHaveProperty(
        'message',
        expect.stringContaining(`was redirected (${status}) to ${other.url}/login, which`),
      );
    }
    expect(other.requests).toEqual([]);
  });

  it('asks GitLab for a new link when the store refuses the old one', async () => {
    const store = await startServer((_, response, count) =>
      response.writeHead(count === 1 ? 403 : 200).end('bytes'),
    );
    const gitlab = await startRedirecting(store.url);

    const { body } = await createFollowing(gitlab.url, store.url).stream('projects/1/jobs/2/artifacts');

    expect(await text(body)).toBe('bytes');
    expect(gitlab.requests).toHaveLength(2);
  });

  it('does not blame the token for what the store refuses', async () => {
    const store = await startStore(401);
    const gitlab = await startRedirecting(store.url);

    const error = await failureOf(
      createFollowing(gitlab.url, store.url).stream('projects/1/jobs/2/artifacts'),
    );

    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty('message', expect.stringContaining('a file store, which answered 401'));
  });

  it('does not take a login page for a log', async () => {
    const login = await startStore(200, 'text/html');
    const gitlab = await startRedirecting(login.url);

    const error = await failureOf(createFollowing(gitlab.url, login.url).stream('projects/1/jobs/2/trace'));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringContaining('a web page, perhaps a login'));
  });
});

describe('a redirect within GitLab', () => {
  it('is followed with the token', async () => {
    const { url, requests } = await startServer((request, response) =>
      request.path === '/api/v4/projects/old'
        ? response.writeHead(301, { location: '/api/v4/projects/7' }).end()
        : answerJson(response, { id: 7 }),
    );

    expect(await createClient(url).api.Projects.show('old')).toEqual({ id: 7 });
    expect(requests.map(({ token }) => token)).toEqual([TOKEN, TOKEN]);
  });

  it('keeps a write a write, or is an error', async () => {
    const { url, requests } = await startServer((request, response) => {
      if (request.path.endsWith('/7/merge_requests/2/notes')) return answerJson(response, { id: 5 });
      const status = request.path.includes('/307/') ? 307 : 302;
      return response.writeHead(status, { location: '/api/v4/projects/7/merge_requests/2/notes' }).end();
    });
    const { MergeRequestNotes } = createClient(url).api;

    await MergeRequestNotes.create(307, 2, 'hello');
    expect(await failureOf(MergeRequestNotes.create(302, 2, 'hello'))).toBeInstanceOf(PermanentError);

    expect(requests.map(({ method, body }) => `${method} ${body}`)).toEqual(
      Array(3).fill('POST {"body":"hello"}'),
    );
  });

  it('is not followed for ever', async () => {
    const { url, requests } = await startRedirecting('/again');

    const error = await failureOf(createClient(url).api.Projects.show(1));

    expect(error).toHaveProperty('message', 'GET /api/v4/projects/1 was redirected more than 5 times');
    expect(requests).toHaveLength(6);
  });
});
