import { expect, test } from 'vitest';
import { createSourceScene } from './gitlab-scene.ts';

type Status = 'success' | 'failed';

interface History {
  merge_request: unknown;
  target_branch: unknown;
  same_commit_both_ways: boolean;
  runs: { id: number; status: string; on: string }[];
  note?: string;
}

test('the last results of a job tell whether the target branch is broken too', async () => {
  const { scene, onMain, onMr } = await createHistory();
  onMain('success');
  const broken = onMain('failed');
  onMain('failed');
  const failed = onMr('failed');

  const history = await scene.ask<History>('gitlab_get_job_history', { job_id: failed });

  expect(history).toMatchObject({
    name: 'unit',
    merge_request: { passed: 0, failed: 1, total: 1 },
    target_branch: { name: 'main', passed: 1, failed: 2, total: 3 },
    // Main's tip is the same commit each time.
    same_commit_both_ways: true,
  });
  expect(history.runs.map(({ status, on }) => `${on} ${status}`)).toEqual([
    'merge_request failed',
    'target_branch failed',
    'target_branch failed',
    'target_branch success',
  ]);
  expect(history.runs[2]).toMatchObject({ id: broken, failure_reason: 'script_failure' });
  expect(history).not.toHaveProperty('note');
});

test('every try counts, and one that failed and passed with the same code is flaky', async () => {
  const { scene, onMr } = await createHistory();
  const first = onMr('failed');
  scene.gitlab.setJobStatus(scene.gitlab.retryJob(first).id, 'success');

  const history = await scene.ask<History>('gitlab_get_job_history', { job_id: first });

  expect(history.runs.map(({ status }) => status)).toEqual(['success', 'failed']);
  expect(history.same_commit_both_ways).toBe(true);
});

test('a job that fails since a commit is not flaky', async () => {
  const { scene, onMr } = await createHistory();
  onMr('success');
  scene.gitlab.pushCommit(scene.mr);
  const failed = onMr('failed');

  const history = await scene.ask<History>('gitlab_get_job_history', { job_id: failed });

  expect(history).toMatchObject({ same_commit_both_ways: false, merge_request: { passed: 1, failed: 1 } });
});

test('only as many pipelines are looked at as were asked for, and it says so', async () => {
  const { scene, onMain, onMr } = await createHistory();
  for (let count = 0; count < 4; count += 1) onMain('success');
  const failed = onMr('failed');

  const history = await scene.ask<History>('gitlab_get_job_history', { job_id: failed, pipelines: 2 });

  expect(history.runs).toHaveLength(3);
  expect(history.note).toMatch(/older pipelines, or more jobs/);
});

test('a pipeline without jobs tells what is wrong with its configuration', async () => {
  const scene = await createSourceScene();
  const yamlErrors = 'jobs:unit config contains unknown keys: scirpt';
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: scene.mr, yamlErrors });

  expect(await scene.ask('gitlab_get_pipeline', { pipeline_id: pipeline.id })).toMatchObject({
    id: pipeline.id,
    status: 'failed',
    sha: scene.sha,
    ref: `refs/merge-requests/${scene.mr.iid}/head`,
    started_by: 'dora',
    yaml_errors: yamlErrors,
  });
});

async function createHistory() {
  const scene = await createSourceScene();
  const jobs = (status: Status) => [
    { name: 'unit', status },
    { name: 'lint', status: 'success' as const },
  ];
  const firstOf = (pipelineId: number) => scene.gitlab.jobs(pipelineId)[0]?.id ?? 0;
  return {
    scene,
    onMr: (status: Status) =>
      firstOf(scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: jobs(status) }).id),
    onMain: (status: Status) =>
      firstOf(scene.gitlab.addPipeline({ projectId: scene.project.id, jobs: jobs(status) }).id),
  };
}
