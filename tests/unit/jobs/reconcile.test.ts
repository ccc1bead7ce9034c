// From a GitLab that always has one more page; the story itself is told in tests/flow/reconcile.test.ts.
import { expect, test } from 'vitest';
import { type ReconcileDependencies, reconcile } from '../../../src/jobs/reconcile.ts';
import { createMergeRequests } from '../../../src/sources/gitlab/merge-requests.ts';
import { createProjects } from '../../../src/sources/gitlab/projects.ts';
import { answerJson, createClient, startServer } from '../gitlab/gitlab-server.ts';

/** Nobody waits for a note there. */
const CLOSED = { state: 'closed', author: { id: 1 } };

test('lists without end are read to a limit, and that there is more is told', async () => {
  const { url, requests } = await startServer(({ path, query }, response) => {
    const page = Number(query.get('page') ?? 1);
    query.set('page', `${page + 1}`);
    const link = `<${url}${path}?${query}>; rel="next"`;
    if (path.endsWith('/projects') && page <= 2)
      return answerJson(response, [{ id: page, path_with_namespace: `shop/app${page}` }], {
        headers: { link },
      });
    if (path.endsWith('/projects')) return answerJson(response, []);
    if (/\/merge_requests\/\d+$/.test(path)) return answerJson(response, CLOSED);
    if (path.endsWith('/1/merge_requests'))
      return answerJson(response, [{ iid: page, sha: null, state: 'opened' }], { headers: { link } });
    return answerJson(response, []);
  });
  const client = createClient(url);
  const deps = {
    projects: createProjects(client),
    patterns: ['shop/**'],
    isAllowed: () => true,
    mergeRequests: createMergeRequests(client),
  };
  const looked: string[] = [];
  const { missed, mergeRequests, gaps } = await reconcile(deps as unknown as ReconcileDependencies, {
    since: new Date(0),
    dryRun: true,
    signal: AbortSignal.timeout(20_000),
    onProgress: (words) => looked.push(words),
  });
  expect({ missed, mergeRequests }).toEqual({ missed: [], mergeRequests: 100 });
  expect(looked).toEqual([
    'shop/app1: 100 merge requests to look at',
    'shop/app2: 0 merge requests to look at',
  ]);
  expect(gaps).toEqual(['merge requests of shop/app1: there are more than the 100 that were read']);
  expect(requests.length).toBeLessThan(210);
});
