import { expect, test } from 'vitest';
import { createScene } from './scene.ts';

test('a merge request tells its head, its refs and its head pipeline', async () => {
  await using scene = await createScene();
  const before = scene.mr.commits.at(-1);
  scene.gitlab.addPipeline({ mergeRequest: scene.mr, status: 'success' });
  const pushed = scene.gitlab.pushCommit(scene.mr, { message: 'Fix it\n\nAt last.' });
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: scene.mr, status: 'failed' });

  const answer = await scene.call(scene.mrPath);

  expect(answer.body).toMatchObject({
    iid: scene.mr.iid,
    state: 'opened',
    sha: pushed.sha,
    author: { username: 'dora' },
    source_project_id: scene.project.id,
    target_project_id: scene.project.id,
    diff_refs: { base_sha: scene.mr.baseSha, start_sha: scene.mr.baseSha, head_sha: pushed.sha },
    head_pipeline: { id: pipeline.id, status: 'failed', ref: 'refs/merge-requests/1/head' },
    web_url: `${scene.gitlab.url}/group/project/-/merge_requests/1`,
  });
  expect((await scene.call(`${scene.mrPath}/commits`)).body).toMatchObject([
    { id: pushed.sha, title: 'Fix it', parent_ids: [before] },
    { id: before },
  ]);
  expect((await scene.call<unknown[]>(`${scene.mrPath}/pipelines`)).body).toHaveLength(2);
});

test('merge requests are listed by state and branch', async () => {
  await using scene = await createScene();
  const other = scene.gitlab.addMergeRequest({
    projectId: scene.project.id,
    authorId: scene.dora.id,
    sourceBranch: 'other',
  });
  scene.gitlab.closeMergeRequest(other);
  const list = async (query: string) =>
    (await scene.call<{ iid: number }[]>(`/projects/${scene.project.id}/merge_requests${query}`)).body;

  expect((await list('')).map((one) => one.iid)).toEqual([2, 1]);
  expect((await list('?state=opened')).map((one) => one.iid)).toEqual([1]);
  expect((await list('?source_branch=other')).map((one) => one.iid)).toEqual([2]);
});

test('the diffs of a merge request and of a comparison show each file once', async () => {
  await using scene = await createScene();
  scene.gitlab.pushCommit(scene.mr, { diffs: [{ path: 'a.ts', diff: '@@ -1 +1 @@\n-a\n+b\n' }] });
  const head = scene.gitlab.pushCommit(scene.mr, {
    diffs: [
      { path: 'a.ts', diff: '@@ -1 +1 @@\n-a\n+c\n' },
      { path: 'new.ts', diff: '@@ -0,0 +1 @@\n+n\n', change: 'new' },
    ],
  });
  const expected = [
    { new_path: 'a.ts', diff: expect.stringContaining('+c'), new_file: false },
    { new_path: 'new.ts', new_file: true },
  ];

  const diffs = await scene.call(`${scene.mrPath}/diffs`);
  const compared = await scene.call(
    `/projects/${scene.project.id}/repository/compare?from=main&to=${head.sha}`,
  );

  expect(diffs.body).toMatchObject(expected);
  expect(diffs.headers.get('x-total')).toBe('2');
  expect(compared.body).toMatchObject({
    commit: { id: head.sha },
    commits: scene.mr.commits.map((id) => ({ id })),
    diffs: expected,
  });
});

test('a file is read at a branch, at its commit and, unchanged, from the default branch', async () => {
  await using scene = await createScene();
  const projectId = scene.project.id;
  scene.gitlab.addFile({ projectId, ref: 'main', path: 'ci/build.yml', content: 'old' });
  scene.gitlab.addFile({ projectId, ref: 'main', path: 'README.md', content: 'read me' });
  scene.gitlab.addFile({ projectId, ref: 'cache', path: 'ci/build.yml', content: 'new' });
  const read = async (path: string, ref: string) =>
    (await scene.call(`/projects/${projectId}/repository/files/${path}/raw?ref=${ref}`)).body;

  expect(await read('ci%2Fbuild.yml', 'main')).toBe('old');
  expect(await read('ci%2Fbuild.yml', scene.mr.commits.at(-1) ?? '')).toBe('new');
  expect(await read('ci%2Fbuild.yml', 'refs/merge-requests/1/head')).toBe('new');
  expect(await read('README.md', 'cache')).toBe('read me');
  expect(await read('missing.txt', 'main')).toEqual({ message: '404 File Not Found' });
  expect(await read('README.md', 'no-such-branch')).toEqual({ message: '404 Commit Not Found' });
});

test('a merge request from a fork has its pipelines there', async () => {
  await using scene = await createScene();
  const fork = scene.gitlab.addProject({
    path: 'dora/project',
    members: [{ userId: scene.bot.id, accessLevel: 20 }],
  });
  const mr = scene.gitlab.addMergeRequest({
    projectId: scene.project.id,
    sourceProjectId: fork.id,
    authorId: scene.dora.id,
    sourceBranch: 'topic',
  });
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: mr, status: 'failed' });

  const answer = await scene.call(`/projects/${scene.project.id}/merge_requests/${mr.iid}`);

  expect(answer.body).toMatchObject({
    source_project_id: fork.id,
    target_project_id: scene.project.id,
    head_pipeline: { id: pipeline.id, project_id: fork.id },
  });
  const here = await scene.call(`/projects/${scene.project.id}/pipelines/${pipeline.id}`);
  const there = await scene.call(`/projects/${fork.id}/pipelines/${pipeline.id}`);
  expect([here.status, there.status]).toEqual([404, 200]);
});
