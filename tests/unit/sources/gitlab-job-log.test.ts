import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { createVirtualSandboxes } from '../../../src/sandbox/virtual/provider.ts';
import { openJobLog } from '../../../src/sources/gitlab/open-job-log.ts';
import { createToolbox } from '../../services/redactor.ts';
import { call } from '../tools/calling.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';
import { createSourceScene } from './gitlab-scene.ts';

test('a job log comes raw, with its colours and marks', async () => {
  const trace = 'section_start:1:build\r\u001b[0K\u001b[31mERROR\u001b[0m grün\n';
  const { scene, jobId } = await createJob(trace);

  expect(await scene.ask('gitlab_get_job_log', { job_id: jobId })).toBe(trace);
});

test('a log without end stops at a limit, and says so', async () => {
  const { scene, jobId } = await createJob('0123456789');
  const scope = { client: scene.client, projectId: scene.project.id, mrIid: scene.mr.iid, sha: scene.sha };

  const body = await openJobLog(scope, jobId, new AbortController().signal, 4);

  expect(await text(body)).toBe('0123\n[reading stopped here, after 4 bytes; there is more]\n');
});

test('a log of 5 MB is in the sandbox to the last byte, and can be searched there', async () => {
  const filler = randomBytes(5 * 1024 * 1024)
    .toString('hex')
    .slice(0, 5 * 1024 * 1024);
  const trace = `${filler.replace(/(.{80})/g, '$1\n')}\nFATAL: out of disk\n`;
  const { scene, jobId } = await createJob(trace);
  const sandbox = await createVirtualSandboxes({ maxBytes: 64 * 1024 * 1024 }).create();
  onTestFinished(() => sandbox.close());
  const toolbox = createToolbox({ sandbox, sources: [scene.source] });

  const fetched = await call(toolbox, 'fetch_to_sandbox', {
    tool: 'gitlab_get_job_log',
    args: { job_id: jobId },
    path: '/tmp/data/unit.log',
  });
  const found = await call(toolbox, 'sandbox_exec', { command: 'grep -n FATAL /tmp/data/unit.log' });

  const number = trace.split('\n').indexOf('FATAL: out of disk') + 1;
  expect(fetched.result).toEqual({
    saved_to: '/tmp/data/unit.log',
    bytes: Buffer.byteLength(trace),
    evidence: expect.stringContaining(`\n${number}|FATAL: out of disk`),
  });
  expect((await sandbox.readFile('/tmp/data/unit.log'))?.equals(Buffer.from(trace))).toBe(true);
  expect(found.result.stdout).toBe(`${number}:FATAL: out of disk\n`);
});

test('a log of 100 MB flows through at the pace of the sandbox, and only a part of it stays in memory', async () => {
  const size = 100 * 1024 * 1024;
  const trace = Buffer.alloc(size, 'noise noise noise\n');
  trace.write('begin\n');
  trace.write('FATAL: out of disk\n', size - 19);
  const { scene, jobId } = await createJob(trace);
  const memory = createMemorySandbox();
  let largestChunk = 0;
  const sandbox: Sandbox = {
    ...memory,
    async writeFile(_path, content) {
      let bytes = 0;
      for await (const chunk of Readable.from(content)) {
        bytes += chunk.length;
        largestChunk = Math.max(largestChunk, chunk.length);
      }
      return bytes;
    },
  };
  const toolbox = createToolbox({ sandbox, sources: [scene.source] });

  const direct = await call(toolbox, 'gitlab_get_job_log', { job_id: jobId });
  const fetched = await call(toolbox, 'fetch_to_sandbox', {
    tool: 'gitlab_get_job_log',
    args: { job_id: jobId },
  });

  expect(direct.result).toMatchObject({ bytes: size });
  expect(direct.result.preview).toMatch(/\n\d+\|.*FATAL: out of disk$/);
  expect(fetched.result).toMatchObject({ bytes: size });
  expect(largestChunk).toBeLessThan(1024 * 1024);
});

test('a large log asked for directly is spilled, what explains the failure in sight', async () => {
  const { scene, jobId } = await createJob(`begin\n${'noise\n'.repeat(10_000)}npm ERR! code 1\n`);
  const toolbox = createToolbox({ sandbox: scene.sandbox, sources: [scene.source] });

  const { result } = await call(toolbox, 'gitlab_get_job_log', { job_id: jobId });

  expect(result).toEqual({
    preview: expect.stringMatching(/^\[lines that .*\/tmp\/_out\/0\.txt\]\n.*10002\|npm ERR! code 1$/s),
    saved_to: '/tmp/_out/0.txt',
    bytes: 60_022,
  });
});

test('what the same job did not say when it passed comes before what it always says', async () => {
  const always = Array.from('abcdefghij', (name) => `ERROR: [plugin ${name}] failed to load theme`);
  const usual = Array(40).fill(always).flat().join('\n');
  const scene = await createSourceScene();
  const runs = ([status, trace]: ['success' | 'failed', string]) => {
    const { id } = scene.gitlab.addPipeline({
      mergeRequest: scene.mr,
      jobs: [{ name: 'unit', status, trace }],
    });
    return scene.gitlab.jobs(id)[0]?.id ?? 0;
  };
  const passed = runs(['success', usual]);
  const failed = runs(['failed', [usual, 'artifacts: 0 of 500 slots left', usual].join('\n')]);
  const toolbox = createToolbox({ sandbox: scene.sandbox, sources: [scene.source] });
  const preview = async () => (await call(toolbox, 'gitlab_get_job_log', { job_id: failed })).result.preview;

  expect(await preview()).toContain(`compared with job ${passed} of the same name, which passed`);
  expect(await preview()).toContain('401|artifacts: 0 of 500 slots left');

  scene.gitlab.fail({ match: { path: `/jobs/${passed}/trace` }, with: { status: 500 } });
  expect(await preview()).toMatch(/^\[lines that explain the failure best, as NUMBER\|LINE; all is in/);
});

test('a log that arrives only by half is an error and no file', async () => {
  const { scene, jobId } = await createJob('x'.repeat(1024 * 1024));
  scene.gitlab.fail({ match: { path: '/trace' }, with: 'half' });

  const { result, isError } = await scene.call('fetch_to_sandbox', {
    tool: 'gitlab_get_job_log',
    args: { job_id: jobId },
  });

  expect(isError).toBe(true);
  expect(result.error).toMatch(/^gitlab_get_job_log: GET .*trace got no whole answer/);
  expect(scene.sandbox.files.size).toBe(0);
});

test('what is the same for all jobs is asked once for many logs, and not at all for small ones', async () => {
  const scene = await createSourceScene();
  const names = Array.from({ length: 10 }, (_, at) => `unit ${at}`);
  const run = (status: 'success' | 'failed', trace: string) => {
    const jobs = names.map((name) => ({ name, status, trace }));
    return scene.gitlab.jobs(scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs }).id);
  };
  const fetchAll = async (trace: string) => {
    run('success', trace);
    const requests = run('failed', trace).map(({ id }) => ({
      tool: 'gitlab_get_job_log',
      args: { job_id: id },
    }));
    const before = scene.gitlab.requests.length;
    const { result } = await scene.call('fetch_batch_to_sandbox', { requests });
    return { result, asked: scene.gitlab.requests.slice(before).map(({ path }) => path) };
  };

  const small = await fetchAll('1 test failed\n');
  const large = await fetchAll('1 test failed\n'.repeat(1_000));

  expect(small.asked).toHaveLength(names.length);
  expect(JSON.stringify(large.result).match(/compared with job/g)).toHaveLength(names.length);
  // For each its own log, the job, and the log of the one that passed.
  const own = 3 * names.length;
  expect(large.asked.length).toBeLessThanOrEqual(own + 5);
});

test('that a list could not be read is not remembered', async () => {
  const scene = await createSourceScene();
  const run = (status: 'success' | 'failed') => {
    const jobs = [{ name: 'unit', status, trace: 'failed\n'.repeat(1_000) }];
    return scene.gitlab.jobs(scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs }).id)[0]?.id ?? 0;
  };
  const passed = run('success');
  const args = { tool: 'gitlab_get_job_log', args: { job_id: run('failed') } };
  const fault = scene.gitlab.fail({
    match: { path: `/merge_requests/${scene.mr.iid}/pipelines` },
    with: { status: 500 },
  });

  const first = await scene.call('fetch_to_sandbox', args);
  fault.lift();
  const second = await scene.call('fetch_to_sandbox', args);

  expect(first.result.evidence).not.toContain('compared with');
  expect(second.result.evidence).toContain(`compared with job ${passed}`);
});

async function createJob(trace: string | Buffer) {
  const scene = await createSourceScene();
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'unit', status: 'failed', trace }],
  });
  return { scene, jobId: scene.gitlab.jobs(pipeline.id)[0]?.id ?? 0 };
}
