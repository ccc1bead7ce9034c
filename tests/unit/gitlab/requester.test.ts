import { describe, expect, it } from 'vitest';
import { answerJson, createClient, type SeenRequest, startServer } from './gitlab-server.ts';

/** Three pages of two, linked the way GitLab does: by number, or by a cursor that only GitLab understands. */
async function startPagedServer(
  toPage: (request: SeenRequest) => number,
  toNext: (page: number) => [string, string],
) {
  const server = await startServer((request, response) => {
    const page = toPage(request);
    // GitLab's own idea of its host: behind a proxy it is not ours.
    const links = [`<http://gitlab.internal${request.path}?${request.query}>; rel="first"`];
    if (page < 3) {
      const query = new URLSearchParams(request.query);
      query.set(...toNext(page));
      links.unshift(`<http://gitlab.internal${request.path}?${query}>; rel="next"`);
    }
    answerJson(response, [{ id: page * 2 - 1 }, { id: page * 2 }], { headers: { link: links.join(', ') } });
  });
  return { ...server, api: createClient(server.url).api };
}

const startOffsetServer = () =>
  startPagedServer(
    ({ query }) => Number(query.get('page') ?? 1),
    (page) => ['page', `${page + 1}`],
  );

const startKeysetServer = () =>
  startPagedServer(
    ({ query }) => Number(atob(query.get('cursor') ?? btoa('1'))),
    (page) => ['cursor', btoa(`${page + 1}`)],
  );

describe('paging', () => {
  it('collects all pages of a list by offset', async () => {
    const { api, requests } = await startOffsetServer();

    const notes = await api.MergeRequestNotes.all('group/project', 2, { perPage: 2, orderBy: 'created_at' });

    expect(notes.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(requests.map(({ path }) => path)).toEqual(
      Array(3).fill('/api/v4/projects/group%2Fproject/merge_requests/2/notes'),
    );
    expect(requests.at(-1)?.query.get('order_by')).toBe('created_at');
  });

  it('collects all pages of a list by keyset', async () => {
    const { api, requests } = await startKeysetServer();

    // gitbeaker's type knows only one scope, GitLab takes several.
    const scope: object = { scope: ['failed', 'canceled'] };
    const jobs = await api.Jobs.all(1, { pagination: 'keyset', perPage: 2, ...scope });

    expect(jobs.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(requests.at(-1)?.query.get('pagination')).toBe('keyset');
    expect(requests.at(-1)?.query.getAll('scope[]')).toEqual(['failed', 'canceled']);
  });

  it('stops after maxPages when perPage is given too', async () => {
    const { api, requests } = await startOffsetServer();

    const notes = await api.MergeRequestNotes.all(1, 2, { perPage: 2, maxPages: 2 });

    expect(notes).toHaveLength(4);
    expect(requests).toHaveLength(2);
  });
});

describe('what gitbeaker sends', () => {
  it('gives text as text and no content as null', async () => {
    const { url } = await startServer(({ method }, response) =>
      method === 'DELETE'
        ? response.writeHead(204).end()
        : response.writeHead(200, { 'content-type': 'text/plain' }).end('log'),
    );
    const { api } = createClient(url);

    expect(await api.Jobs.showLog(1, 2)).toBe('log');
    expect(await api.MergeRequestNotes.remove(1, 2, 3)).toBeNull();
  });

  it('deletes without a body, which some proxies would refuse', async () => {
    const { url, requests } = await startServer((_, response) => response.writeHead(204).end());

    await createClient(url).api.MergeRequestNotes.remove(1, 2, 3);

    expect(requests[0]).toMatchObject({ method: 'DELETE', body: '' });
  });

  it('uploads files', async () => {
    const { url, requests } = await startServer((_, response) => answerJson(response, { id: 1 }));

    await createClient(url).api.ProjectMarkdownUploads.create(1, {
      content: new Blob(['file content']),
      filename: 'log.txt',
    });

    expect(requests[0]?.contentType).toMatch(/^multipart\/form-data; boundary=/);
    expect(requests[0]?.body).toContain('filename="log.txt"');
    expect(requests[0]?.body).toContain('file content');
  });

  it('names the stream when someone asks gitbeaker for one', async () => {
    const { url, requests } = await startServer((_, response) => response.end());
    const options: object = { asStream: true };

    await expect(createClient(url).api.Jobs.showLog(1, 2, options)).rejects.toThrow(
      "use the client's stream()",
    );
    expect(requests).toEqual([]);
  });
});
