import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import type { NewArtifacts } from '../../../src/demo/gitlab/world/artifacts.ts';
import { packZip } from '../../../src/demo/gitlab/zip.ts';
import { startServer } from '../gitlab/gitlab-server.ts';
import { createSourceScene, type SourceSceneOptions } from './gitlab-scene.ts';

const MB = 1024 * 1024;

test('the files in the archive are listed, and the reports beside it', async () => {
  const { scene, jobId } = await createJob({
    files: { 'build/app.log': 'hello', 'build/größe.txt': 'x', 'screens/1.png': 'png' },
    reports: ['junit'],
  });

  expect(await scene.ask('gitlab_list_artifacts', { job_id: jobId })).toEqual({
    archive_bytes: expect.any(Number),
    expires: null,
    reports: [{ type: 'junit', bytes: 750 }],
    files: [
      { path: 'build/app.log', bytes: 5 },
      { path: 'build/größe.txt', bytes: 1 },
      { path: 'screens/1.png', bytes: 3 },
    ],
    total: 3,
  });
  expect(await scene.ask('gitlab_list_artifacts', { job_id: jobId, under: 'screens/' })).toMatchObject({
    files: [{ path: 'screens/1.png' }],
  });
});

test('a single file comes out of the archive, whatever its name', async () => {
  const { scene, jobId } = await createJob({
    files: { 'logs/größe 100%.txt': 'Grüße 🐦\n', 'index.html': '<html>' },
  });

  const read = (path: string) => scene.ask('gitlab_get_artifact_file', { job_id: jobId, path });

  expect(await read('logs/größe 100%.txt')).toBe('Grüße 🐦\n');
  expect(await read('index.html')).toBe('<html>');
});

test('a binary file fetched into the sandbox is there to the last byte', async () => {
  const content = randomBytes(3 * MB);
  const { scene, jobId } = await createJob({ files: { 'core.dump': content } });

  const { result } = await scene.call('fetch_to_sandbox', {
    tool: 'gitlab_get_artifact_file',
    args: { job_id: jobId, path: 'core.dump' },
    path: '/tmp/data/core.dump',
  });

  expect(result).toEqual({ saved_to: '/tmp/data/core.dump', bytes: content.length });
  expect(scene.sandbox.files.get('/tmp/data/core.dump')?.equals(content)).toBe(true);
});

test.each(['..', 'a/../../trace', '../trace', 'a/./b'])('the path %j leads nowhere else', async (path) => {
  const { scene, jobId } = await createJob({ files: { a: 'x' } });

  expect(await scene.call('gitlab_get_artifact_file', { job_id: jobId, path })).toMatchObject({
    isError: true,
  });
  expect(scene.gitlab.requests).toEqual([]);
});

test('a job without artifacts says so, and names the reports it has', async () => {
  const scene = await createSourceScene();
  const { id: pipelineId } = scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: [{ name: 'unit' }] });
  const job_id = scene.gitlab.jobs(pipelineId)[0]?.id;

  const { result } = await scene.call('gitlab_list_artifacts', { job_id });

  expect(result.error).toMatch(/Job \d+ has no archive of artifacts/);
});

test('of a large archive only the list of files is fetched', async () => {
  const files: Record<string, Buffer> = {
    'image.tar': randomBytes(20 * MB),
    'report.xml': Buffer.from(REPORT),
  };
  for (let index = 0; index < 300; index += 1) files[`logs/${index}.log`] = Buffer.from('x');
  const { scene, jobId } = await createJob({ files });

  const answer = await scene.ask<{ total: number }>('gitlab_list_artifacts', { job_id: jobId });
  const report = await scene.ask('gitlab_get_junit_report', { job_id: jobId });

  expect(answer.total).toBe(302);
  expect(report).toMatchObject({ total: 1, failed: 1 });
  const parts = scene.gitlab.requests.filter(({ path }) => path.endsWith('/artifacts'));
  expect(parts.length).toBeLessThan(8);
  expect(new Set(parts.map(({ status }) => status))).toEqual(new Set([206]));
});

test('a large archive of a GitLab that gives no parts is a gap with a way out', async () => {
  const { scene, jobId } = await createJob({ files: { 'image.tar': randomBytes(17 * MB) } });
  const store = await startServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/zip' }).end('all of it'),
  );
  const other = await createJob(
    { files: { 'image.tar': randomBytes(17 * MB) } },
    { client: { fileHosts: [new URL(store.url).host] } },
  );
  other.scene.gitlab.fail({ match: { path: '/artifacts' }, with: { status: 302, location: store.url } });

  const { result } = await other.scene.call('gitlab_list_artifacts', { job_id: other.jobId });

  expect(result.error).toMatch(/only as a whole; ask for single files by their path/);
  expect(await scene.ask('gitlab_list_artifacts', { job_id: jobId })).toMatchObject({ total: 1 });
});

test('very many files are listed in part', async () => {
  const files = Object.fromEntries(Array.from({ length: 2_500 }, (_, index) => [`${index}.txt`, '']));
  const { scene, jobId } = await createJob({ files });

  const answer = await scene.ask<{ files: unknown[] }>('gitlab_list_artifacts', { job_id: jobId });

  expect(answer).toMatchObject({ total: 2_500, note: expect.stringContaining('narrow it down with under') });
  expect(answer.files).toHaveLength(2_000);
});

test('a zip bomb is not unpacked: neither one that tells its size nor one that lies', async () => {
  const bomb = Buffer.alloc(40 * MB, ' ');
  const honest = packZip(new Map([['bomb.xml', bomb]]));
  const lying = claimSize(honest, 100);
  expect(honest.length).toBeLessThan(MB);
  const { scene, jobId } = await createJob({ files: {}, archive: honest });
  const read = () => scene.ask<{ left_out: string[] }>('gitlab_get_junit_report', { job_id: jobId });

  expect((await read()).left_out).toEqual([
    expect.stringMatching(/^bomb\.xml: .* has 41943040 bytes, more than/),
  ]);
  scene.gitlab.addArtifacts({ jobId, files: {}, archive: lying });
  expect((await read()).left_out).toEqual([
    expect.stringMatching(/^bomb\.xml: .*can not be unpacked: too many bytes/),
  ]);
});

test('a file that GitLab unpacks without end is given up', async () => {
  const endless = function* () {
    for (let sent = 0; sent < 300; sent += 1) yield Buffer.alloc(MB);
  };
  const { url } = await startServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    return pipeline(Readable.from(endless()), response).catch(() => undefined);
  });
  const scene = await createSourceScene({ client: { url } });

  const { result, isError } = await scene.call('fetch_to_sandbox', {
    tool: 'gitlab_get_artifact_file',
    args: { job_id: 1, path: 'bomb.bin' },
  });

  expect(isError).toBe(true);
  expect(result.error).toMatch(/bomb\.bin is larger than 209715200 bytes and was given up/);
  expect(scene.sandbox.files.size).toBe(0);
});

test.each([
  ['no zip at all', Buffer.from('<html>not a zip</html>'.repeat(10))],
  ['half of one', packZip(new Map([['a.txt', randomBytes(10_000)]])).subarray(0, 5_000)],
  ['names that lead out of it', packZip(new Map([['../../etc/passwd', Buffer.from('x')]]))],
])('an archive that is %s is an error in words', async (_, archive) => {
  const { scene, jobId } = await createJob({ files: {}, archive });

  const { result } = await scene.call('gitlab_list_artifacts', { job_id: jobId });

  expect(result.error).toMatch(/^gitlab_list_artifacts: The archive of job \d+ can not be unpacked: /);
});

test.each([1_000, 17 * MB])('an archive of %i bytes that arrives only by half is a gap', async (size) => {
  const { scene, jobId } = await createJob({ files: { 'a.bin': randomBytes(size) } });
  scene.gitlab.fail({ match: { path: '/artifacts' }, with: 'half' });

  const { result, isError } = await scene.call('gitlab_list_artifacts', { job_id: jobId });

  expect(isError).toBe(true);
  expect(result.error).toMatch(/^gitlab_list_artifacts: GET .*artifacts got no whole answer/);
});

test('artifacts in an object store are read from there, without the token', async () => {
  const zip = packZip(new Map([['a.txt', Buffer.from('hello')]]));
  const store = await startServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/zip' }).end(zip),
  );
  const options = { client: { fileHosts: [new URL(store.url).host] } };
  const { scene, jobId } = await createJob({ files: { 'a.txt': 'hello' } }, options);
  const location = `${store.url}/bucket/artifacts.zip?signature=abc`;
  scene.gitlab.fail({ match: { path: '/artifacts' }, with: { status: 302, location } });

  expect(await scene.ask('gitlab_list_artifacts', { job_id: jobId })).toMatchObject({ total: 1 });
  expect(store.requests.map(({ token }) => token)).toEqual([undefined]);
});

test.each(['http://169.254.169.254/latest/meta-data/', 'http://127.0.0.1:9/', 'https://evil.test/'])(
  'a redirect of a log or of artifacts to %s is not followed',
  async (location) => {
    const { scene, jobId } = await createJob({ files: { 'a.txt': 'x' } });
    scene.gitlab.fail({ match: { path: /artifacts|trace/ }, with: { status: 302, location } });

    for (const tool of ['gitlab_list_artifacts', 'gitlab_get_job_log']) {
      const { result, isError } = await scene.call(tool, { job_id: jobId });
      expect(isError).toBe(true);
      expect(result.error).toMatch(new RegExp(`^${tool}: GitLab redirects to .*gitlab\\.fileHosts`));
    }
  },
);

const REPORT = '<testsuite name="s"><testcase name="x"><failure>no</failure></testcase></testsuite>';

/** What both headers of the only file say of its size when unpacked. */
function claimSize(zip: Buffer, bytes: number): Buffer {
  const lying = Buffer.from(zip);
  lying.writeUInt32LE(bytes, 22);
  lying.writeUInt32LE(bytes, lying.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 24);
  return lying;
}

async function createJob(artifacts: Omit<NewArtifacts, 'jobId'>, options: SourceSceneOptions = {}) {
  const scene = await createSourceScene(options);
  const { id: pipelineId } = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'unit', status: 'failed' }],
  });
  const jobId = scene.gitlab.jobs(pipelineId)[0]?.id ?? 0;
  scene.gitlab.addArtifacts({ jobId, ...artifacts });
  return { scene, jobId };
}
