import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createScene } from './scene.ts';

test("a pipeline's jobs are listed by status, with earlier tries on request", async () => {
  await using scene = await createScene();
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [
      { name: 'build', stage: 'build', status: 'success' },
      { name: 'unit', status: 'failed' },
      { name: 'child', kind: 'bridge', status: 'success' },
    ],
  });
  const [, unit] = scene.gitlab.jobs(pipeline.id);
  const again = scene.gitlab.retryJob(unit?.id ?? 0);
  const jobs = `/projects/${scene.project.id}/pipelines/${pipeline.id}/jobs`;
  const ids = async (query: string) =>
    (await scene.call<{ id: number }[]>(`${jobs}${query}`)).body.map((job) => job.id);

  expect(await ids('')).toEqual([again.id, expect.any(Number)]);
  expect(await ids('?include_retried=true')).toContain(unit?.id);
  expect(await ids('?include_retried=true&scope[]=failed')).toEqual([unit?.id]);
  const single = await scene.call(`/projects/${scene.project.id}/jobs/${unit?.id}`);
  expect(single.body).toMatchObject({
    name: 'unit',
    status: 'failed',
    failure_reason: 'script_failure',
    pipeline: { id: pipeline.id },
    web_url: `${scene.gitlab.url}/group/project/-/jobs/${unit?.id}`,
  });
});

test('a bridge tells the pipeline that it started', async () => {
  await using scene = await createScene();
  const parent = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'deploy', kind: 'bridge' }],
  });
  const [bridge] = scene.gitlab.jobs(parent.id);
  const child = scene.gitlab.addPipeline({
    projectId: scene.project.id,
    source: 'parent_pipeline',
    upstreamBridgeId: bridge?.id ?? 0,
  });

  const answer = await scene.call(`/projects/${scene.project.id}/pipelines/${parent.id}/bridges`);

  expect(answer.body).toMatchObject([{ name: 'deploy', downstream_pipeline: { id: child.id } }]);
});

test('child pipelines are listed only for who asks for them', async () => {
  await using scene = await createScene();
  const { id: projectId } = scene.project;
  const parent = scene.gitlab.addPipeline({ projectId });
  const child = scene.gitlab.addPipeline({ projectId, source: 'parent_pipeline' });
  const list = async (query: string) => {
    const { body } = await scene.call<{ id: number }[]>(`/projects/${projectId}/pipelines${query}`);
    return body.map((one) => one.id);
  };

  expect(await list('')).toEqual([parent.id]);
  expect(await list('?source=parent_pipeline')).toEqual([child.id]);
});

test('the test report counts its cases', async () => {
  await using scene = await createScene();
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'unit', status: 'failed' }],
    testSuites: [
      {
        name: 'unit',
        cases: [
          { name: 'adds', status: 'success', seconds: 1 },
          { name: 'divides', status: 'failed', seconds: 2, output: 'expected 2, got 3' },
        ],
      },
    ],
  });
  const path = `/projects/${scene.project.id}/pipelines/${pipeline.id}`;

  expect((await scene.call(`${path}/test_report`)).body).toMatchObject({
    total_count: 2,
    failed_count: 1,
    total_time: 3,
    test_suites: [
      { name: 'unit', test_cases: [{}, { name: 'divides', system_output: 'expected 2, got 3' }] },
    ],
  });
  expect((await scene.call(`${path}/test_report_summary`)).body).toMatchObject({
    total: { count: 2, failed: 1 },
    test_suites: [{ build_ids: [scene.gitlab.jobs(pipeline.id)[0]?.id] }],
  });
});

test('a trace of 5 MB arrives whole, as text and in pieces', async () => {
  await using scene = await createScene();
  const trace = randomBytes(5 * 1024 * 1024);
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: [{ name: 'unit', trace }] });
  const [job] = scene.gitlab.jobs(pipeline.id);

  const response = await fetch(
    `${scene.gitlab.url}/api/v4/projects/${scene.project.id}/jobs/${job?.id}/trace`,
    { headers: { 'private-token': scene.token } },
  );
  const hash = createHash('sha256');
  let pieces = 0;
  for await (const piece of response.body ?? []) {
    hash.update(piece);
    pieces += 1;
  }

  expect(response.headers.get('content-type')).toBe('text/plain');
  expect(response.headers.get('content-length')).toBe(String(trace.length));
  expect(hash.digest('hex')).toBe(createHash('sha256').update(trace).digest('hex'));
  expect(pieces).toBeGreaterThan(10);
});

test('a job without a trace has an empty one', async () => {
  await using scene = await createScene();
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: [{ name: 'unit' }] });
  const [job] = scene.gitlab.jobs(pipeline.id);

  const answer = await scene.call(`/projects/${scene.project.id}/jobs/${job?.id}/trace`);

  expect(answer).toMatchObject({ status: 200, body: '' });
});

test('pipelines are listed by status, commit and time', async () => {
  let now = new Date('2026-05-01T10:00:00Z');
  await using scene = await createScene({ now: () => now });
  const old = scene.gitlab.addPipeline({ projectId: scene.project.id, status: 'failed' });
  now = new Date('2026-05-01T11:00:00Z');
  const young = scene.gitlab.addPipeline({ mergeRequest: scene.mr, status: 'failed' });
  const running = scene.gitlab.addPipeline({ mergeRequest: scene.mr, status: 'running' });
  const list = async (query: string) => {
    const path = `/projects/${scene.project.id}/pipelines${query}`;
    return (await scene.call<{ id: number }[]>(path)).body.map((one) => one.id);
  };

  expect(await list('')).toEqual([running.id, young.id, old.id]);
  expect(await list('?status=failed')).toEqual([young.id, old.id]);
  expect(await list('?status=failed&updated_after=2026-05-01T10:30:00Z')).toEqual([young.id]);
  expect(await list(`?sha=${old.sha}`)).toEqual([old.id]);
  expect(await list('?ref=main')).toEqual([old.id]);
});
