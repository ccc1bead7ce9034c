import { expect, test } from 'vitest';
import { createListening } from './listening.ts';

test('a pipeline hook comes with every status, with builds and merge request', async () => {
  await using scene = await createListening('pipeline_events');
  const started = await scene.after(() =>
    scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: [{ name: 'unit', stage: 'test' }] }),
  );
  const [pipeline] = scene.gitlab.pipelines(scene.project.id);
  const [job] = scene.gitlab.jobs(pipeline?.id ?? 0);

  const running = await scene.after(() => scene.gitlab.setJobStatus(job?.id ?? 0, 'running'));
  const failed = await scene.after(() => scene.gitlab.setJobStatus(job?.id ?? 0, 'failed'));

  expect([...started, ...running, ...failed].map(({ payload }) => payload.object_attributes)).toMatchObject([
    { status: 'pending', finished_at: null },
    { status: 'running' },
    { status: 'failed', finished_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/) },
  ]);
  expect(failed[0]?.payload).toMatchObject({
    object_kind: 'pipeline',
    object_attributes: {
      id: pipeline?.id,
      iid: 1,
      ref: 'cache',
      sha: scene.mr.commits.at(-1),
      source: 'merge_request_event',
      stages: ['test'],
      url: `${scene.gitlab.url}/group/project/-/pipelines/${pipeline?.id}`,
    },
    merge_request: { id: scene.mr.id, iid: scene.mr.iid, source_branch: 'cache', state: 'opened' },
    user: { id: scene.dora.id, email: '[REDACTED]' },
    project: { id: scene.project.id, path_with_namespace: 'group/project', visibility_level: 0 },
    commit: { id: scene.mr.commits.at(-1), author: { name: 'Dora' } },
    builds: [{ id: job?.id, name: 'unit', status: 'failed', failure_reason: 'script_failure' }],
  });
});

test("an external pipeline's hook has no builds and no merge request", async () => {
  await using scene = await createListening('pipeline_events');

  const [received] = await scene.after(() =>
    scene.gitlab.addCommitStatus({
      projectId: scene.project.id,
      sha: scene.mr.commits.at(-1) ?? '',
      name: 'on-pull-request',
      state: 'failed',
      targetUrl: 'https://konflux.test/run/1',
    }),
  );

  expect(received?.payload).toMatchObject({
    object_attributes: { source: 'external', status: 'failed', ref: 'cache', sha: scene.mr.commits.at(-1) },
    merge_request: null,
    builds: [],
  });
});

test('a merged-results pipeline runs on another commit than the head', async () => {
  await using scene = await createListening('pipeline_events');

  const [received] = await scene.after(() =>
    scene.gitlab.addPipeline({ mergeRequest: scene.mr, sha: scene.mr.baseSha, status: 'failed' }),
  );

  expect(received?.payload).toMatchObject({
    object_attributes: { sha: scene.mr.baseSha },
    merge_request: { iid: scene.mr.iid },
  });
  expect((await scene.call(scene.mrPath)).body).toMatchObject({
    sha: scene.mr.commits.at(-1),
    head_pipeline: { sha: scene.mr.baseSha },
  });
});

test("a job's hook calls it a build and the pipeline its commit", async () => {
  await using scene = await createListening('job_events');

  const [received] = await scene.after(() =>
    scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: [{ name: 'unit', status: 'failed' }] }),
  );

  const [pipeline] = scene.gitlab.pipelines(scene.project.id);
  expect(received?.headers['x-gitlab-event']).toBe('Job Hook');
  expect(received?.payload).toMatchObject({
    object_kind: 'build',
    build_id: scene.gitlab.jobs(pipeline?.id ?? 0)[0]?.id,
    build_name: 'unit',
    build_status: 'failed',
    build_failure_reason: 'script_failure',
    pipeline_id: pipeline?.id,
    project_id: scene.project.id,
    commit: { id: pipeline?.id, sha: pipeline?.sha },
  });
});
