import { expect, test } from 'vitest';
import { createScene, type Scene } from './scene.ts';

test('an external status makes a pipeline of its commit, which leads back to the merge request', async () => {
  await using scene = await createScene();
  const sha = scene.mr.commits.at(-1) ?? '';
  const commit = `/projects/${scene.project.id}/repository/commits/${sha}`;

  await postStatus(scene, { name: 'on-pull-request', state: 'running' });
  const failed = await postStatus(scene, {
    name: 'on-pull-request',
    state: 'failed',
    target_url: 'https://konflux.test/run/1',
  });

  expect(failed).toMatchObject({ status: 201, body: { name: 'on-pull-request', status: 'failed' } });
  expect(scene.gitlab.pipelines(scene.project.id)).toMatchObject([
    { sha, ref: 'cache', source: 'external', status: 'failed', mergeRequestId: null },
  ]);
  expect((await scene.call(`${commit}/statuses`)).body).toMatchObject([
    { name: 'on-pull-request', status: 'failed', target_url: 'https://konflux.test/run/1' },
  ]);
  expect((await scene.call(`${commit}/merge_requests`)).body).toMatchObject([{ iid: scene.mr.iid, sha }]);
  expect((await scene.call(commit)).body).toMatchObject({ id: sha, status: 'failed' });
  expect((await scene.call(scene.mrPath)).body).toMatchObject({ head_pipeline: { source: 'external' } });
});

test('an external pipeline is over only when all of its statuses are', async () => {
  await using scene = await createScene();
  const status = () => scene.gitlab.pipelines(scene.project.id).map((one) => one.status);

  await postStatus(scene, { name: 'build', state: 'pending' });
  expect(status()).toEqual(['pending']);
  await postStatus(scene, { name: 'test', state: 'running' });
  expect(status()).toEqual(['running']);
  await postStatus(scene, { name: 'build', state: 'failed' });
  expect(status()).toEqual(['running']);
  await postStatus(scene, { name: 'test', state: 'success' });
  expect(status()).toEqual(['failed']);
});

test('a status reported again after it was over is shown in its place', async () => {
  await using scene = await createScene();
  await postStatus(scene, { name: 'build', state: 'failed' });
  await postStatus(scene, { name: 'build', state: 'success' });
  const path = `/projects/${scene.project.id}/repository/commits/${scene.mr.commits.at(-1)}/statuses`;

  expect((await scene.call(path)).body).toMatchObject([{ status: 'success' }]);
  expect((await scene.call(`${path}?all=true`)).body).toMatchObject([
    { status: 'failed' },
    { status: 'success' },
  ]);
});

test('below Developer nobody reports a status', async () => {
  await using scene = await createScene();
  scene.gitlab.setMember(scene.project.id, scene.bot.id, 20);

  const answer = await postStatus(scene, { name: 'build', state: 'failed' });

  expect(answer.status).toBe(403);
  expect(scene.gitlab.pipelines(scene.project.id)).toEqual([]);
});

function postStatus(scene: Scene, body: Record<string, string>) {
  const sha = scene.mr.commits.at(-1);
  return scene.call(`/projects/${scene.project.id}/statuses/${sha}`, { method: 'POST', body });
}
