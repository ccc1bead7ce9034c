// Every tool of the source, as the model would use it for what is large: into files of the sandbox.
import { expect, test } from 'vitest';
import { createToolbox } from '../../services/redactor.ts';
import { call } from '../tools/calling.ts';
import { createSourceScene } from './gitlab-scene.ts';

test('every tool writes its whole answer into a file', async () => {
  const { scene, requests } = await createWorld();
  expect(requests.map(({ tool }) => tool).toSorted()).toEqual(
    scene.source.tools.map(({ name }) => name).toSorted(),
  );
  const toolbox = createToolbox({ sandbox: scene.sandbox, sources: [scene.source] });

  const { result, isError } = await call(toolbox, 'fetch_batch_to_sandbox', { requests });

  expect(isError).toBe(false);
  for (const [index, saved] of (result.results as { saved_to: string; bytes: number }[]).entries()) {
    expect(saved, requests[index]?.tool).not.toHaveProperty('error');
    expect(scene.sandbox.files.get(saved.saved_to)?.length).toBe(saved.bytes);
    expect(saved.bytes).toBeGreaterThan(0);
  }
  expect(toolbox.gaps()).toEqual([]);
});

test('every tool answers directly, small enough or with a preview', async () => {
  const { scene, requests } = await createWorld();
  const toolbox = createToolbox({ sandbox: scene.sandbox, sources: [scene.source] });

  for (const { tool, args } of requests) {
    const { result, isError } = await call(toolbox, tool, args);
    expect(isError, `${tool}: ${JSON.stringify(result)}`).toBe(false);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(10_000);
  }
});

test('every tool is declared in a form that all vendors take', async () => {
  const { source, sandbox } = await createSourceScene({ readProjects: ['group/deploy'] });

  for (const { name, description, inputSchema } of createToolbox({ sandbox, sources: [source] })
    .definitions) {
    expect(name).toMatch(/^[a-z][a-z0-9_]{2,63}$/);
    expect(description.length).toBeLessThan(1_000);
    expect(inputSchema).toMatchObject({ type: 'object' });
    // Patterns are read by other engines than JavaScript's.
    expect(JSON.stringify(inputSchema)).not.toMatch(/\\\\[pP]\{|\(\?[!=<]/);
  }
});

async function createWorld() {
  const scene = await createSourceScene({
    mr: { commits: [{ message: 'Change it', diffs: [{ path: 'a.ts', diff: '@@ -1 +1 @@\n-a\n+b\n' }] }] },
  });
  const { gitlab, project, mr } = scene;
  const add = (path: string, content: string) =>
    gitlab.addFile({ projectId: project.id, ref: 'main', path, content });
  add('a.ts', 'const a = 1;\n');
  add('.gitlab-ci.yml', 'unit:\n  script: npm test\n');
  gitlab.addNote({ projectId: project.id, iid: mr.iid, userId: scene.dora.id, body: 'Why?' });
  gitlab.addPipeline({ projectId: project.id, jobs: [{ name: 'unit', status: 'success', trace: 'ok' }] });
  const pipeline = gitlab.addPipeline({
    mergeRequest: mr,
    jobs: [{ name: 'unit', status: 'failed', trace: 'x\n'.repeat(20_000) }],
    testSuites: [{ name: 'unit', cases: [{ name: 'adds', status: 'failed', output: 'no' }] }],
  });
  const job_id = gitlab.jobs(pipeline.id)[0]?.id ?? 0;
  gitlab.addArtifacts({
    jobId: job_id,
    files: { 'unit.xml': '<testsuite name="s"><testcase name="x"><failure/></testcase></testsuite>' },
  });
  const job = { job_id };
  const ofPipeline = { pipeline_id: pipeline.id };
  const args: Record<string, Record<string, unknown>> = {
    gitlab_get_mr_details: {},
    gitlab_list_commits: {},
    gitlab_get_mr_diff: {},
    gitlab_list_discussions: {},
    gitlab_list_pipelines: {},
    gitlab_get_pipeline: ofPipeline,
    gitlab_list_jobs: ofPipeline,
    gitlab_get_job_log: job,
    gitlab_get_last_passing_job: job,
    gitlab_get_job_history: job,
    gitlab_get_test_report: ofPipeline,
    gitlab_list_artifacts: job,
    gitlab_get_artifact_file: { ...job, path: 'unit.xml' },
    gitlab_get_junit_report: job,
    gitlab_list_commit_statuses: {},
    gitlab_get_ci_config: {},
    gitlab_get_file: { path: 'a.ts' },
    gitlab_list_directory: {},
    gitlab_get_blame: { path: 'a.ts', first_line: 1, last_line: 1 },
    gitlab_search_code: { query: 'const' },
    gitlab_compare_refs: { from: 'main', to: scene.sha },
  };
  return { scene, requests: Object.entries(args).map(([tool, one]) => ({ tool, args: one })) };
}
