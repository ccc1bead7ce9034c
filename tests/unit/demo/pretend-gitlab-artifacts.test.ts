import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { createScene, type Scene } from './scene.ts';

test('a job lists its artifacts, and gives the archive as a zip that others can read', async () => {
  await using scene = await createScene();
  const { jobPath, get } = addJob(scene, { 'logs/größe.txt': 'hello', 'a.bin': Buffer.alloc(1000) });

  expect((await scene.call(jobPath)).body).toMatchObject({
    artifacts_file: { filename: 'artifacts.zip', size: expect.any(Number) },
    artifacts: [{ file_type: 'archive' }, { file_type: 'metadata' }, { file_type: 'junit' }],
  });
  const response = await get('/artifacts');
  expect(response.headers.get('content-type')).toBe('application/zip');
  expect(await unpack(Buffer.from(await response.arrayBuffer()))).toEqual({
    'logs/größe.txt': 'hello',
    'a.bin': '\0'.repeat(1000),
  });
});

test('a part of the archive can be asked for', async () => {
  await using scene = await createScene();
  const { get } = addJob(scene, { 'a.txt': 'hello' });
  const whole = Buffer.from(await (await get('/artifacts')).arrayBuffer());

  const part = await get('/artifacts', { range: `bytes=4-9` });
  const beyond = await get('/artifacts', { range: `bytes=${whole.length}-` });

  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe(`bytes 4-9/${whole.length}`);
  expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(4, 10));
  expect(beyond.status).toBe(416);
});

test('a single file comes unpacked; one that is not there, and a job without artifacts, are 404', async () => {
  await using scene = await createScene();
  const { get, jobPath } = addJob(scene, { 'logs/a b.txt': 'hello' });
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: [{ name: 'bare' }] });
  const [bare] = scene.gitlab.jobs(pipeline.id);

  expect(await (await get('/artifacts/logs/a%20b.txt')).text()).toBe('hello');
  expect((await scene.call(`${jobPath}/artifacts/nope`)).status).toBe(404);
  expect((await scene.call(`/projects/${scene.project.id}/jobs/${bare?.id}/artifacts`)).status).toBe(404);
});

function addJob(scene: Scene, files: Record<string, string | Buffer>) {
  const pipeline = scene.gitlab.addPipeline({ mergeRequest: scene.mr, jobs: [{ name: 'unit' }] });
  const jobId = scene.gitlab.jobs(pipeline.id)[0]?.id ?? 0;
  scene.gitlab.addArtifacts({ jobId, files, reports: ['junit'] });
  const jobPath = `/projects/${scene.project.id}/jobs/${jobId}`;
  return {
    jobPath,
    get: (path: string, headers: Record<string, string> = {}) =>
      fetch(`${scene.gitlab.url}/api/v4${jobPath}${path}`, {
        headers: { 'private-token': scene.token, ...headers },
      }),
  };
}

async function unpack(zip: Buffer): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const archive = await fromBufferPromise(zip);
  for await (const entry of archive.eachEntry()) {
    files[entry.fileName] = await text(await archive.openReadStreamPromise(entry));
  }
  return files;
}
