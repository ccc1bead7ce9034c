// Every tool of every source in one toolbox, as a job has them: called directly, and into files of the sandbox.
import { expect, onTestFinished, test } from 'vitest';
import { pipelineRun, taskRun } from '../../../src/demo/konflux/objects.ts';
import { createPretendKonflux } from '../../../src/demo/konflux/server.ts';
import { openKonfluxCluster } from '../../../src/sources/konflux/clusters.ts';
import { createKonfluxSource } from '../../../src/sources/konflux/source.ts';
import { openMcpSource } from '../../../src/sources/mcp/source.ts';
import type { Source } from '../../../src/sources/source.ts';
import { openTestingFarm } from '../../../src/sources/testing-farm/connection.ts';
import { createTestingFarmSource } from '../../../src/sources/testing-farm/source.ts';
import { createToolbox } from '../../services/redactor.ts';
import { answerJson, startServer } from '../gitlab/gitlab-server.ts';
import { call } from '../tools/calling.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';
import { createSourceScene } from './gitlab-scene.ts';
import { startWiki } from './mcp/wiki-http.ts';

interface World {
  source: Source;
  args: Record<string, Record<string, unknown>>;
}

test('every tool writes its whole answer into a file', async () => {
  const { sources, requests } = await createWorlds();
  const sandbox = createMemorySandbox();
  const toolbox = createToolbox({ sandbox, sources });

  const batch = await call(toolbox, 'fetch_batch_to_sandbox', { requests });

  expect(batch.isError).toBe(false);
  const results = batch.result.results as { saved_to: string; bytes: number }[];
  expect(results).toHaveLength(requests.length);
  for (const [index, saved] of results.entries()) {
    expect(saved, requests[index]?.tool).not.toHaveProperty('error');
    expect(sandbox.files.get(saved.saved_to)?.length).toBe(saved.bytes);
    expect(saved.bytes).toBeGreaterThan(0);
  }
  for (const { tool, args } of requests) {
    const path = `/tmp/data/own/${tool}`;
    const one = await call(toolbox, 'fetch_to_sandbox', { tool, args, path });
    expect(one, `${tool}: ${JSON.stringify(one.result)}`).toMatchObject({
      isError: false,
      result: { saved_to: path, bytes: sandbox.files.get(path)?.length },
    });
  }
  expect(toolbox.gaps()).toEqual([]);
});

test('every tool answers directly, small enough or with a preview, and says what was wrong with a call', async () => {
  const { sources, requests } = await createWorlds();
  const toolbox = createToolbox({ sandbox: createMemorySandbox(), sources });

  for (const { tool, args } of requests) {
    const { result, isError } = await call(toolbox, tool, args);
    expect(isError, `${tool}: ${JSON.stringify(result)}`).toBe(false);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(10_000);
    if (!tool.startsWith('wiki_')) {
      const wrong = await call(toolbox, tool, { ...args, project_url: 'https://evil.example.com' });
      expect(wrong.result.error).toContain(`${tool} was called with wrong arguments`);
    }
  }
  expect(toolbox.gaps()).toEqual([]);
});

test('the notes of every source are told, and every tool begins with the name of its own', async () => {
  const { sources } = await createWorlds();
  const { notes } = createToolbox({ sandbox: createMemorySandbox(), sources });

  for (const { name, tools } of sources) {
    expect(notes).toContain(`## Data source: ${name}`);
    for (const tool of tools) expect(tool.name.startsWith(`${name}_`)).toBe(true);
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

/** Each with a right call for each of its tools. */
async function createWorlds() {
  const worlds = await Promise.all([
    createGitlabWorld(),
    createKonfluxWorld(),
    createFarmWorld(),
    createWikiWorld(),
  ]);
  const sources = worlds.map(({ source }) => source);
  for (const { source, args } of worlds)
    expect(Object.keys(args).toSorted()).toEqual(source.tools.map(({ name }) => name).toSorted());
  const requests = worlds.flatMap(({ args }) =>
    Object.entries(args).map(([tool, one]) => ({ tool, args: one })),
  );
  return { sources, requests };
}

const SHA = 'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678';
const PINNED = { project: { id: 42, path: 'group/app' }, gitlabUrl: 'https://gitlab.example.com', sha: SHA };

async function createKonfluxWorld(): Promise<World> {
  const konflux = await createPretendKonflux();
  onTestFinished(() => konflux.close());
  const login = { kind: 'token' as const, url: konflux.cluster.url, token: konflux.token };
  const cluster = await openKonfluxCluster({ name: 'prod', login, learn: () => undefined });
  onTestFinished(() => cluster.close());
  konflux.cluster.add(
    pipelineRun({ name: 'cart-1', sha: SHA }),
    taskRun({ name: 'ec', pipelineRun: 'cart-1', task: 'verify-conforma', steps: [{ name: 'assert' }] }),
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'ec-pod' }, status: { phase: 'Failed' } },
    { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'Snapshot', metadata: { name: 'shop-1' } },
  );
  konflux.cluster.setLog('ec-pod', 'step-assert', 'a line of the log\n'.repeat(20_000));
  const ofRun = { pipelinerun: 'cart-1' };
  return {
    source: createKonfluxSource([{ cluster, namespace: konflux.namespace }], { ...PINNED, mrIid: 7 }),
    args: {
      konflux_list_pipelineruns: {},
      konflux_get_pipelinerun: ofRun,
      konflux_list_taskruns: ofRun,
      konflux_list_test_results: ofRun,
      konflux_get_taskrun_log: { taskrun: 'ec' },
      konflux_get_pod_events: { taskrun: 'ec' },
      konflux_get_policy_report: ofRun,
      konflux_list_snapshots: {},
      konflux_list_integration_tests: {},
      konflux_list_releases: { snapshot: 'shop-1' },
    },
  };
}

async function createFarmWorld(): Promise<World> {
  const request_id = '7d6a6cbf-3cd5-49fb-aca1-f76ffa0734aa';
  const test = { fmf: { url: 'https://gitlab.example.com/group/app', ref: SHA } };
  const { url } = await startServer(({ path }, response) => {
    if (path.includes('/requests/')) return answerJson(response, { id: request_id, state: 'complete', test });
    response.setHeader('content-type', 'text/plain');
    if (path.endsWith('.xml')) return response.end('<testsuites overall-result="passed"/>');
    return response.end('a line of the log\n'.repeat(20_000));
  });
  const farm = openTestingFarm({ url, artifactsUrl: url });
  onTestFinished(() => farm.close());
  const pinned = { ...PINNED, testRepositories: [], readStatuses: async () => [] };
  return {
    source: createTestingFarmSource(farm, pinned),
    args: {
      testing_farm_get_request: { request_id },
      testing_farm_list_results: { request_id },
      testing_farm_get_log: { request_id },
    },
  };
}

async function createWikiWorld(): Promise<World> {
  const { url } = await startWiki();
  const reach = { kind: 'http' as const, url };
  const server = { name: 'wiki', tools: ['search_pages', 'get_page'], timeoutMs: 5_000, reach };
  const { source, close } = await openMcpSource(server, new AbortController().signal);
  onTestFinished(close);
  return { source, args: { wiki_search_pages: { words: 'runners' }, wiki_get_page: { id: 9 } } };
}

async function createGitlabWorld(): Promise<World> {
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
  return { source: scene.source, args };
}
