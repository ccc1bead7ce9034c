import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { findLastPassingJob } from '../../../src/sources/gitlab/last-passing-job.ts';
import { openJobLog } from '../../../src/sources/gitlab/open-job-log.ts';
import { createSourceScene } from './gitlab-scene.ts';

type SourceScene = Awaited<ReturnType<typeof createSourceScene>>;

interface Answer {
  compared_with: { id: number };
  passing_job: { id: number } | null;
  note?: string;
}

test('the job that passed on an earlier commit of the merge request is found, and its log', async () => {
  const scene = await createSourceScene();
  const earlierSha = scene.sha;
  const passed = runOnMr(scene, 'success', 'all 12 tests passed\n');
  const { sha } = scene.gitlab.pushCommit(scene.mr);
  const failed = runOnMr(scene, 'failed', 'Grüße: 1 test failed\n');

  const answer = await scene.ask<Answer>('gitlab_get_last_passing_job', { job_id: failed.id });
  const log = await scene.ask('gitlab_get_last_passing_job', { job_id: failed.id, log: true });

  expect(answer).toEqual({
    compared_with: { id: failed.id, name: 'unit', status: 'failed', sha },
    passing_job: {
      id: passed.id,
      stage: 'test',
      duration: expect.any(Number),
      finished: expect.stringMatching(/^20/),
      pipeline_id: passed.pipelineId,
      sha: earlierSha,
      on: 'merge request',
      same_commit: false,
      web_url: `${scene.gitlab.url}/group/project/-/jobs/${passed.id}`,
    },
  });
  expect(log).toBe('all 12 tests passed\n');
});

test('a newer pass on the target branch wins over an older one of the merge request', async () => {
  const scene = await createSourceScene();
  runOnMr(scene, 'success');
  const onMain = runOnMain(scene, 'success');
  const failed = runOnMr(scene, 'failed');

  const { passing_job } = await scene.ask<Answer>('gitlab_get_last_passing_job', { job_id: failed.id });

  expect(passing_job).toMatchObject({ id: onMain.id, on: 'target branch main' });
});

test('only a job of the very same name counts, also when its pipeline failed', async () => {
  const scene = await createSourceScene();
  const pipeline = scene.gitlab.addPipeline({
    projectId: scene.project.id,
    jobs: [
      { name: 'unit', status: 'success' },
      { name: 'lint', status: 'failed' },
    ],
  });
  scene.gitlab.addPipeline({
    projectId: scene.project.id,
    jobs: [{ name: 'unit 2/2', status: 'success' }],
  });
  const failed = runOnMr(scene, 'failed');

  const { passing_job } = await scene.ask<Answer>('gitlab_get_last_passing_job', { job_id: failed.id });

  expect(passing_job?.id).toBe(scene.gitlab.jobs(pipeline.id)[0]?.id);
});

test('another try in the same pipeline passed with the very same code', async () => {
  const scene = await createSourceScene();
  const failed = runOnMr(scene, 'failed');
  const again = scene.gitlab.retryJob(failed.id);
  scene.gitlab.setJobStatus(again.id, 'success');

  const { passing_job } = await scene.ask<Answer>('gitlab_get_last_passing_job', { job_id: failed.id });

  expect(passing_job).toMatchObject({ id: again.id, same_commit: true });
});

test('a job of a child pipeline is compared with child pipelines', async () => {
  const scene = await createSourceScene();
  const runChild = (ref: string, status: 'success' | 'failed') => {
    const parent = scene.gitlab.addPipeline({
      projectId: scene.project.id,
      ref,
      jobs: [{ name: 'services', kind: 'bridge', status }],
    });
    const child = scene.gitlab.addPipeline({
      projectId: scene.project.id,
      ref,
      source: 'parent_pipeline',
      upstreamBridgeId: scene.gitlab.jobs(parent.id)[0]?.id ?? 0,
      jobs: [{ name: 'compile', status }],
    });
    return scene.gitlab.jobs(child.id)[0]?.id ?? 0;
  };
  const passed = runChild('main', 'success');
  const failed = runChild(`refs/merge-requests/${scene.mr.iid}/head`, 'failed');

  const { passing_job } = await scene.ask<Answer>('gitlab_get_last_passing_job', { job_id: failed });

  expect(passing_job?.id).toBe(passed);
});

test('that it never passed is an answer, with what was looked at', async () => {
  const scene = await createSourceScene();
  runOnMain(scene, 'failed');
  const failed = runOnMr(scene, 'failed');

  const answer = await scene.ask<Answer>('gitlab_get_last_passing_job', { job_id: failed.id });
  const log = await scene.call('gitlab_get_last_passing_job', { job_id: failed.id, log: true });

  expect(answer).toMatchObject({
    passing_job: null,
    note: 'No job "unit" has passed in the newest 2 pipelines of the merge request and of main',
  });
  expect(log.isError).toBe(true);
  expect(log.result.error).toContain('No job "unit" has passed');
});

test('the search ends after ten pipelines of each, and says so', async () => {
  const scene = await createSourceScene();
  runOnMain(scene, 'success');
  for (let count = 0; count < 15; count += 1) runOnMain(scene, 'failed');
  const failed = runOnMr(scene, 'failed');

  const answer = await scene.ask<Answer>('gitlab_get_last_passing_job', { job_id: failed.id });

  expect(answer.passing_job).toBeNull();
  expect(answer.note).toMatch(/newest 11 pipelines .*older ones, or more of their jobs, were not looked at/);
  expect(scene.gitlab.requests.length).toBeLessThan(16);
});

test('as a function it gives the job and lets its log be streamed', async () => {
  const scene = await createSourceScene();
  const passed = runOnMain(scene, 'success', 'fine\n');
  const failed = runOnMr(scene, 'failed');
  const scope = { client: scene.client, projectId: scene.project.id, mrIid: scene.mr.iid, sha: scene.sha };
  const { signal } = new AbortController();

  const search = await findLastPassingJob(scope, failed.id, signal);

  expect(search).toMatchObject({ passing: { id: passed.id, on: 'target_branch', isSameCommit: false } });
  expect(await text(await openJobLog(scope, search.passing?.id ?? 0, signal))).toBe('fine\n');
});

function runOnMr(scene: SourceScene, status: 'success' | 'failed', trace = '') {
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'unit', status, trace }],
  });
  return jobOf(scene, pipeline.id);
}

function runOnMain(scene: SourceScene, status: 'success' | 'failed', trace = '') {
  const { id } = scene.project;
  const pipeline = scene.gitlab.addPipeline({ projectId: id, jobs: [{ name: 'unit', status, trace }] });
  return jobOf(scene, pipeline.id);
}

function jobOf(scene: SourceScene, pipelineId: number) {
  const [job] = scene.gitlab.jobs(pipelineId);
  if (!job) throw new Error('the pipeline has no job');
  return job;
}
