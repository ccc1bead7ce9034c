import { expect, test } from 'vitest';
import { createSourceScene } from './gitlab-scene.ts';

interface Jobs {
  failed: number;
  failed_but_allowed: number;
  total: number;
  jobs: { id: number; name: string }[];
  child_pipelines: unknown[];
  note?: string;
}

test("the merge request's pipelines are listed newest first", async () => {
  const scene = await createSourceScene();
  const old = scene.gitlab.addPipeline({ mergeRequest: scene.mr, status: 'success' });
  const commit = scene.gitlab.pushCommit(scene.mr);
  const recent = scene.gitlab.addPipeline({ mergeRequest: scene.mr, status: 'failed' });

  const { pipelines } = await scene.ask<{ pipelines: unknown[] }>('gitlab_list_pipelines');

  expect(pipelines).toEqual([
    {
      id: recent.id,
      status: 'failed',
      source: 'merge_request_event',
      sha: commit.sha,
      created: recent.createdAt.toISOString(),
      web_url: `${scene.gitlab.url}/group/project/-/pipelines/${recent.id}`,
    },
    expect.objectContaining({ id: old.id, status: 'success', sha: scene.sha }),
  ]);
});

test('failed jobs come first, those that may fail after those that may not', async () => {
  const scene = await createSourceScene();
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [
      { name: 'build', stage: 'build', status: 'success' },
      { name: 'lint', status: 'failed', allowFailure: true },
      { name: 'deploy', stage: 'deploy', status: 'skipped' },
      { name: 'unit', status: 'failed', failureReason: 'runner_system_failure' },
    ],
  });

  const answer = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: pipeline.id });

  expect(answer.jobs.map(({ name }) => name)).toEqual(['unit', 'lint', 'build', 'deploy']);
  expect(answer).toMatchObject({ failed: 1, failed_but_allowed: 1, total: 4 });
  const [unit] = answer.jobs;
  expect(unit).toEqual({
    id: expect.any(Number),
    name: 'unit',
    stage: 'test',
    status: 'failed',
    allow_failure: false,
    failure_reason: 'runner_system_failure',
    duration: expect.any(Number),
    web_url: `${scene.gitlab.url}/group/project/-/jobs/${unit?.id}`,
    retried: false,
  });
});

test('a job that passed when it was tried again is no failure, and names the try that failed', async () => {
  const scene = await createSourceScene();
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'e2e', status: 'failed' }],
  });
  const [first] = scene.gitlab.jobs(pipeline.id);
  const second = scene.gitlab.retryJob(first?.id ?? 0);
  scene.gitlab.setJobStatus(second.id, 'success');

  const newest = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: pipeline.id });
  expect(newest).toMatchObject({ failed: 0, total: 1 });
  expect(newest.jobs).toMatchObject([
    { id: second.id, status: 'success', retried: false, passed_on_retry: true, failed_tries: [first?.id] },
  ]);

  const all = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: pipeline.id, include_retried: true });
  expect(all.failed).toBe(0);
  expect(all.jobs).toMatchObject([
    { id: first?.id, retried: true, passed_on_retry: true, newest_try: { id: second.id, status: 'success' } },
    { id: second.id, retried: false },
  ]);
});

test('what was retried comes after every failure that still counts', async () => {
  const scene = await createSourceScene();
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [
      { name: 'e2e', status: 'failed' },
      { name: 'lint', status: 'failed', allowFailure: true },
      { name: 'unit', status: 'failed' },
    ],
  });
  const [e2e] = scene.gitlab.jobs(pipeline.id);
  scene.gitlab.setJobStatus(scene.gitlab.retryJob(e2e?.id ?? 0).id, 'success');

  const { jobs } = await scene.ask<Jobs>('gitlab_list_jobs', {
    pipeline_id: pipeline.id,
    include_retried: true,
  });

  expect(jobs.map(({ name }) => name)).toEqual(['unit', 'lint', 'e2e', 'e2e']);
});

test('a job that failed each time is one failure, with its earlier tries', async () => {
  const scene = await createSourceScene();
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'e2e', status: 'failed' }],
  });
  const [first] = scene.gitlab.jobs(pipeline.id);
  const second = scene.gitlab.retryJob(first?.id ?? 0);
  scene.gitlab.setJobStatus(second.id, 'failed');

  const { jobs, failed } = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: pipeline.id });

  expect(failed).toBe(1);
  expect(jobs).toMatchObject([{ id: second.id, status: 'failed', failed_tries: [first?.id] }]);
  expect(jobs[0]).not.toHaveProperty('passed_on_retry');
});

test('child pipelines are listed, and theirs can be asked for in turn', async () => {
  const scene = await createSourceScene();
  const parent = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [
      { name: 'docs', kind: 'bridge', status: 'success' },
      { name: 'services', kind: 'bridge', status: 'failed' },
    ],
  });
  const services = scene.gitlab.jobs(parent.id)[1];
  const child = scene.gitlab.addPipeline({
    projectId: scene.project.id,
    source: 'parent_pipeline',
    upstreamBridgeId: services?.id ?? 0,
    jobs: [{ name: 'compile', status: 'failed' }],
  });

  const { child_pipelines } = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: parent.id });

  expect(child_pipelines).toMatchObject([
    {
      bridge: 'services',
      status: 'failed',
      pipeline: { id: child.id, status: 'failed', source: 'parent_pipeline' },
    },
    { bridge: 'docs', status: 'success', pipeline: null },
  ]);
  const inner = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: child.id });
  expect(inner.jobs).toMatchObject([{ name: 'compile', status: 'failed' }]);
});

test('a pipeline that was started in another project is marked as out of reach', async () => {
  const scene = await createSourceScene();
  const other = scene.gitlab.addProject({ path: 'group/deploy' });
  const parent = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'deploy', kind: 'bridge' }],
  });
  const [bridge] = scene.gitlab.jobs(parent.id);
  scene.gitlab.addPipeline({ projectId: other.id, upstreamBridgeId: bridge?.id ?? 0 });

  const { child_pipelines } = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: parent.id });

  expect(child_pipelines).toMatchObject([{ pipeline: { in_other_project: true } }]);
});

test('all of 150 jobs are read, and the one failure in the last page is first', async () => {
  const scene = await createSourceScene();
  const jobs = Array.from({ length: 150 }, (_, index) => ({
    name: `job ${index}`,
    status: index === 0 ? ('failed' as const) : ('success' as const),
  }));
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs });

  const answer = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: pipeline.id });

  expect(answer).toMatchObject({
    failed: 1,
    total: 150,
    jobs: [{ name: 'job 0', status: 'failed' }, ...Array(149).fill({})],
  });
  expect(answer).not.toHaveProperty('note');
});

test('reading stops after 1000 jobs and says so', async () => {
  const scene = await createSourceScene();
  const jobs = Array.from({ length: 1_050 }, (_, index) => ({
    name: `job ${index}`,
    status: 'success' as const,
  }));
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs });

  const answer = await scene.ask<Jobs>('gitlab_list_jobs', { pipeline_id: pipeline.id });

  expect(answer.total).toBe(1_000);
  expect(answer.note).toMatch(/Only the first 1000 jobs.* there are more/);
});

test("external statuses of the merge request's head are told apart from GitLab's jobs", async () => {
  const scene = await createSourceScene();
  scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [
      { name: 'unit', status: 'failed' },
      { name: 'lint', status: 'success' },
    ],
  });
  const report = { projectId: scene.project.id, sha: scene.sha };
  scene.gitlab.addCommitStatus({
    ...report,
    name: 'Konflux / build',
    state: 'success',
    targetUrl: 'https://konflux.test/1',
  });
  scene.gitlab.addCommitStatus({
    ...report,
    name: 'Konflux / clair-scan',
    state: 'failed',
    targetUrl: 'https://konflux.test/2',
    description: '3 critical vulnerabilities',
  });

  const answer = await scene.ask('gitlab_list_commit_statuses');

  expect(answer).toEqual({
    sha: scene.sha,
    external: [
      expect.objectContaining({
        name: 'Konflux / clair-scan',
        status: 'failed',
        description: '3 critical vulnerabilities',
        target_url: 'https://konflux.test/2',
      }),
      expect.objectContaining({ name: 'Konflux / build', status: 'success', description: null }),
    ],
    gitlab_jobs: 2,
    failed_gitlab_jobs: [{ id: expect.any(Number), name: 'unit' }],
  });
});

test('an external status without a link is known by its description', async () => {
  const scene = await createSourceScene();
  const report = { projectId: scene.project.id, sha: scene.sha, name: 'scanner', state: 'failed' as const };
  scene.gitlab.addCommitStatus({ ...report, description: 'quota used up' });

  expect(await scene.ask('gitlab_list_commit_statuses')).toMatchObject({
    external: [{ name: 'scanner', description: 'quota used up', target_url: null }],
    gitlab_jobs: 0,
  });
});

test('statuses are those of the job, also after a push, or of the commit that was asked for', async () => {
  const scene = await createSourceScene();
  const report = { projectId: scene.project.id, name: 'Konflux', targetUrl: 'https://konflux.test/1' };
  scene.gitlab.addCommitStatus({ ...report, sha: scene.sha, state: 'success' });
  const { sha } = scene.gitlab.pushCommit(scene.mr);
  scene.gitlab.addCommitStatus({ ...report, sha, state: 'failed' });

  expect(await scene.ask('gitlab_list_commit_statuses')).toMatchObject({
    sha: scene.sha,
    external: [{ status: 'success' }],
  });
  expect(await scene.ask('gitlab_list_commit_statuses', { sha })).toMatchObject({
    sha,
    external: [{ status: 'failed' }],
  });
});
