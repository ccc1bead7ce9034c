// Every list that a tool reads, from a server that always has one more page: reading ends, and the answer says so.
import { expect, onTestFinished, test } from 'vitest';
import { createGitlabSource } from '../../../src/sources/gitlab/source.ts';
import { openKonfluxCluster } from '../../../src/sources/konflux/clusters.ts';
import { createKonfluxSource } from '../../../src/sources/konflux/source.ts';
import { answerJson, createClient, startServer } from '../gitlab/gitlab-server.ts';
import { asModel, GITLAB_URL, MR_IID, PROJECT, SHA } from './konflux-scene.ts';

const MAX_PAGES = 10;

const DIFF = {
  old_path: 'a',
  new_path: 'a',
  diff: '+x',
  new_file: false,
  renamed_file: false,
  deleted_file: false,
};
const PIPELINE = { id: 1, status: 'failed', sha: SHA, source: 'external', web_url: 'https://x.example.com' };
const JOB = {
  id: 9,
  name: 'unit',
  stage: 'test',
  status: 'failed',
  allow_failure: false,
  web_url: 'https://x',
};
const OF_PIPELINE = { ...JOB, pipeline: { id: 1, sha: SHA, ref: 'topic', source: 'push' } };
const MERGE_REQUEST = { target_branch: 'main', sha: SHA };

/** By the ends of paths: what is a list, and what is not. */
const LISTS: [RegExp, object][] = [
  [/\/merge_requests\/7\/commits$/, { id: SHA, title: 'x' }],
  [/\/diffs$/, DIFF],
  [/\/discussions$/, { notes: [{ id: 1, body: 'hello', system: false }] }],
  [/\/pipelines$/, PIPELINE],
  [/\/jobs$/, JOB],
  [/\/bridges$/, { ...JOB, downstream_pipeline: null }],
  [/\/statuses$/, { id: 1, name: 'konflux', status: 'failed', description: 'no' }],
  [/\/tree$/, { path: 'a', type: 'blob' }],
  [/\/search$/, { filename: 'a', data: 'x', startline: 1 }],
];
const THINGS: [RegExp, object][] = [
  [/\/merge_requests\/7$/, MERGE_REQUEST],
  [/\/jobs\/9$/, OF_PIPELINE],
];

test.each([
  ['gitlab_list_commits', {}],
  ['gitlab_get_mr_diff', {}],
  ['gitlab_list_discussions', {}],
  ['gitlab_list_pipelines', {}],
  ['gitlab_list_jobs', { pipeline_id: 1 }],
  ['gitlab_list_commit_statuses', {}],
  ['gitlab_list_directory', {}],
  ['gitlab_search_code', { query: 'main' }],
  ['gitlab_get_last_passing_job', { job_id: 9 }],
  ['gitlab_get_job_history', { job_id: 9 }],
])('%s', async (name, args) => {
  const { url, requests } = await startServer(({ path, query }, response) => {
    const [, thing] = THINGS.find(([end]) => end.test(path)) ?? [];
    if (thing) return answerJson(response, thing);
    const [, item] = LISTS.find(([end]) => end.test(path)) ?? [];
    query.set('page', `${Number(query.get('page') ?? 1) + 1}`);
    const link = `<${url}${path}?${query}>; rel="next"`;
    return answerJson(response, [item], { headers: { link } });
  });
  const scope = { projectId: 1, mrIid: 7, sha: SHA };
  const { ask } = asModel(createGitlabSource(createClient(url), scope));

  const answer = await ask<unknown>(name, args);

  expect(JSON.stringify(answer)).toMatch(
    /there are more|There are older|older ones|search for something rarer/,
  );
  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  const pages = Map.groupBy(requests, ({ path }) => path);
  for (const [path, asked] of pages) expect(asked.length, path).toBeLessThanOrEqual(MAX_PAGES);
});

test('child pipelines that are too many are named beside the jobs', async () => {
  const { url } = await startServer(({ path }, response) => {
    const link = `<${url}${path}?page=2&per_page=100>; rel="next"`;
    return path.endsWith('/bridges')
      ? answerJson(response, [{ ...JOB, downstream_pipeline: null }], { headers: { link } })
      : answerJson(response, [JOB]);
  });
  const { ask } = asModel(createGitlabSource(createClient(url), { projectId: 1, mrIid: 7, sha: SHA }));

  const answer = await ask('gitlab_list_jobs', { pipeline_id: 1 });

  expect(answer.child_pipelines_note).toBe('There are more child pipelines than were read.');
  expect(answer).not.toHaveProperty('note');
});

const REPORT_TASK = { 'tekton.dev/pipelineTask': 'verify-conforma' };

test.each([
  ['konflux_list_pipelineruns', {}],
  ['konflux_list_pipelineruns', { of: 'merge_request' }],
  ['konflux_get_pipelinerun', { pipelinerun: 'x' }],
  ['konflux_list_taskruns', { pipelinerun: 'x' }],
  ['konflux_list_test_results', { pipelinerun: 'x' }],
  ['konflux_get_pod_events', { taskrun: 'x' }],
  ['konflux_get_policy_report', { pipelinerun: 'x' }],
  ['konflux_list_snapshots', {}],
  ['konflux_list_integration_tests', {}],
  ['konflux_list_releases', { snapshot: 'x' }],
])('%s %j', async (name, args) => {
  const { url, requests } = await startServer(({ path, query }, response) => {
    const thing = { kind: 'Thing', metadata: { name: 'x', labels: REPORT_TASK }, status: { podName: 'p' } };
    if (path.endsWith('/log')) return response.writeHead(200, { 'content-type': 'text/plain' }).end('log');
    if (/\/x$|\/p$/.test(path)) return answerJson(response, thing);
    const uid = `${query.get('continue') ?? 'first'}`;
    return answerJson(response, {
      items: [{ metadata: { name: `n-${uid}`, uid, labels: REPORT_TASK } }],
      metadata: { continue: `${requests.length}` },
    });
  });
  const login = { kind: 'token' as const, url, token: 'any' };
  const cluster = await openKonfluxCluster({ name: 'prod', login, learn: () => undefined });
  onTestFinished(() => cluster.close());
  const scope = { project: PROJECT, gitlabUrl: GITLAB_URL, mrIid: MR_IID, sha: SHA };
  const { ask } = asModel(createKonfluxSource([{ cluster, namespace: 'team' }], scope));

  const answer = await ask<unknown>(name, args);

  expect(JSON.stringify(answer)).toMatch(
    /has more than was read; these are only the first|Only the first events/,
  );
  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  const lists = Map.groupBy(requests, ({ path, query }) => `${path} ${query.get('labelSelector')}`);
  for (const [list, asked] of lists) expect(asked.length, list).toBeLessThanOrEqual(2 * MAX_PAGES);
});
