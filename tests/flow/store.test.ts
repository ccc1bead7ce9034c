// The story with sessions in S3, and with an S3 that is away.
import { randomUUID } from 'node:crypto';
import { globSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { openS3Store } from '../../src/session/s3-store.ts';
import { startProgram } from '../services/program.ts';
import { S3_BUCKET, S3_KEYS, s3Options } from '../services/s3.ts';
import { type S3Proxy, startS3Proxy } from '../services/s3-proxy.ts';
import type { SceneOptions } from './scene.ts';
import { run, stopProcesses } from './service-process.ts';
import {
  addHook,
  arrangeStopped,
  ask,
  ended,
  FINDING,
  failPipeline,
  investigate,
  lastRequest,
  noteOf,
  notes,
  REPLY,
  scene,
  start,
} from './story-scene.ts';

afterEach(stopProcesses);

describe('with sessions in S3', () => {
  test('a failed pipeline becomes a note, a reply an answer with the same files, and the readiness tells of the store', async () => {
    const { prefix, proxy } = await arrangeS3();
    const { url } = await scene.start();
    addHook(url);
    const { jobId } = failPipeline();
    scene.model.script = investigate(jobId);
    const note = await noteOf(0);
    ask(note.discussionId, 'And now?');
    expect((await noteOf(1)).body).toContain(REPLY);
    expect(lastRequest()).toContain('2001:AssertionError');
    await expect.poll(() => ended()).toHaveLength(2);

    const store = openS3Store(s3Options(inject('s3Url'), { prefix }));
    const [session] = await Array.fromAsync(store.catalog.list());
    const { context, meta } = (await store.load(session?.name ?? '')) ?? {};
    expect(context?.files).toMatchObject([{ name: 'sandbox.tar.gz' }]);
    expect(meta).toMatchObject({ runs: 2, ending: 'answered' });
    const names = (await Array.fromAsync(store.catalog.objects(session?.name ?? ''))).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('transcript/')).length).toBeGreaterThan(0);
    expect(names.filter((name) => name.startsWith('files/'))).toEqual([]);

    expect(await readiness(url)).toMatchObject({ ok: true, details: { bucket: S3_BUCKET } });
    goAway(proxy);
    await expect
      .poll(() => readiness(url), { timeout: 10_000 })
      .toMatchObject({ ok: false, reason: expect.stringContaining('503') });
  });

  test('a worker that is killed in the middle is followed by another, with its words and files', async () => {
    await arrangeS3();
    const first = await run(scene, 'all');
    addHook(first.url);
    const { jobId } = failPipeline();
    const story = investigate(jobId);
    const reached = Promise.withResolvers<void>();
    scene.model.script = (conversation) => {
      if (!conversation.some(({ role }) => role === 'tool')) return story(conversation);
      reached.resolve();
      return { calls: [{ name: 'sandbox_exec', arguments: { command: 'sleep 60' } }] };
    };
    await reached.promise;
    await first.kill();

    scene.model.script = story;
    await run(scene, 'all');
    expect((await noteOf(0)).body).toContain(FINDING);
    expect(lastRequest()).toContain('2001:AssertionError');
    const fetches = scene.gitlab.requests.filter(({ path }) => path.endsWith('/trace'));
    expect(fetches).toHaveLength(1);
  }, 60_000);
});

describe('an S3 that is away', () => {
  test('when a job begins is waited for', async () => {
    const { proxy } = await arrangeS3();
    await start();
    goAway(proxy);
    const { jobId } = failPipeline();
    scene.model.script = investigate(jobId);
    await expect.poll(() => failures(), { timeout: 10_000 }).not.toEqual([]);
    expect(failures()[0]).toMatchObject({
      willRetry: true,
      err: { message: expect.stringMatching(/s3:\/\/.*HTTP 503/) },
    });
    expect(scene.model.conversations()).toEqual([]);
    comeBack(proxy);
    expect((await noteOf(0)).body).toContain(FINDING);
  });

  test('in the middle of a run is waited for, and no turn before it is asked for again', async () => {
    const { proxy } = await arrangeS3();
    await start();
    const { jobId } = failPipeline();
    const story = investigate(jobId);
    scene.model.script = (conversation) => {
      const results = conversation.filter(({ role }) => role === 'tool').length;
      if (results === 2) goAway(proxy);
      return story(conversation);
    };
    await expect.poll(() => failures(), { timeout: 20_000 }).not.toEqual([]);
    scene.model.script = story;
    comeBack(proxy);
    expect((await noteOf(0)).body).toContain(FINDING);
    expect(scene.gitlab.requests.filter(({ path }) => path.endsWith('/trace'))).toHaveLength(1);
  });

  test('in the middle of a run for longer than the tries is told in the note, and the job is kept for a retry by hand', async () => {
    const { proxy } = await arrangeS3({ queue: { attempts: 1 } });
    await start();
    const { jobId } = failPipeline();
    const story = investigate(jobId);
    scene.model.script = (conversation) => {
      if (conversation.some(({ role }) => role === 'tool')) goAway(proxy);
      return story(conversation);
    };
    const note = await noteOf(0);
    expect(note.body).toMatch(
      /This analysis could not be finished.* The store of the sessions could not be used since .*; it was tried once/,
    );
    await expect.poll(() => failures()).toMatchObject([{ willRetry: false }]);
  });

  test('at the end does not lose the answer: it is posted, and the session is saved later', async () => {
    const { proxy, spoolDir } = await arrangeS3();
    await start();
    const { jobId } = failPipeline();
    const story = investigate(jobId);
    scene.model.script = (conversation) => {
      const said = story(conversation);
      if (said.text === FINDING) goAway(proxy);
      return said;
    };
    const note = await noteOf(0);
    expect(note.body).toContain(FINDING);
    expect(note.body).not.toContain('could not be saved');
    await expect.poll(() => ended()).toHaveLength(1);
    expect(readdirSync(spoolDir)).toHaveLength(1);

    // As after a restart, by another process: what was kept is found again.
    await scene.stop();
    comeBack(proxy);
    scene.model.script = story;
    await start();
    ask(note.discussionId, 'And now?');
    expect((await noteOf(1)).body).toContain(REPLY);
    expect(lastRequest()).toContain('2001:AssertionError');
    expect(notes()).toHaveLength(2);
    expect(readdirSync(spoolDir)).toEqual([]);
  }, 60_000);
});

test('an S3 that hangs at the end does not keep the note from being posted in the time of the run; the session is saved afterwards', async () => {
  const MINUTES = 0.2;
  const { proxy } = await arrangeS3(quickWorkflow(MINUTES));
  await start();
  const { jobId } = failPipeline();
  const story = investigate(jobId);
  scene.model.script = (conversation) => {
    const said = story(conversation);
    if (said.text === FINDING) proxy.fault = () => ({ kind: 'hang' });
    return said;
  };
  const note = await noteOf(0);
  const started = scene.logged.find(({ msg }) => msg === 'job started');
  expect(Date.now() - Number(started?.time)).toBeLessThan(MINUTES * 60_000);
  expect(note.body).toContain(FINDING);

  comeBack(proxy);
  proxy.disconnect();
  scene.model.script = story;
  ask(note.discussionId, 'And now?');
  expect((await noteOf(1)).body).toContain(REPLY);
  expect(lastRequest()).toContain(FINDING);
  expect(lastRequest()).toContain('2001:AssertionError');
  expect(notes()).toHaveLength(2);
}, 90_000);

test('an analysis by hand prints its note before its session is saved', async () => {
  const { proxy, spoolDir } = await arrangeS3(quickWorkflow(0.2));
  const { jobId } = failPipeline();
  const story = investigate(jobId);
  scene.model.script = (conversation) => {
    const said = story(conversation);
    if (said.text === FINDING) proxy.fault = () => ({ kind: 'hang' });
    return said;
  };
  const url = `${scene.gitlab.url}/${scene.project.path}/-/merge_requests/${scene.mr.iid}`;
  const program = startProgram(['analyze', url, '--config', scene.file], scene.env);
  const kept = () => globSync('*', { cwd: spoolDir });
  await program.shows(FINDING);
  expect(kept()).toEqual([]);
  comeBack(proxy);
  proxy.disconnect();
  const { code, stdout, stderr } = await program.ended;
  expect(code).toBe(0);
  expect(stdout.split(FINDING)).toHaveLength(2);
  expect(stderr).toContain('nothing was posted');
  expect(kept()).toHaveLength(1);
}, 90_000);

function quickWorkflow(minutes: number) {
  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-workflows-'));
  const tools = 'tools: [gitlab_get_mr_details, gitlab_get_job_log, fetch_to_sandbox, sandbox_exec]';
  writeFileSync(
    join(dir, 'quick.md'),
    `---\non: [pipeline_failed]\n${tools}\nmax_minutes: ${minutes}\ngate: off\n---\nFind out.\n`,
  );
  return { workflows: { dir, onFailedPipeline: 'quick' } };
}

async function readiness(url: string): Promise<Record<string, unknown> | undefined> {
  const response = await fetch(`${url}/health/ready`);
  const { dependencies } = (await response.json()) as { dependencies: Record<string, unknown>[] };
  return dependencies.find(({ name }) => name === 'store');
}

const failures = () => scene.logged.filter(({ msg }) => msg === 'job failed');

function goAway(proxy: S3Proxy): void {
  proxy.fault = () => ({ kind: 'status', status: 503 });
}

function comeBack(proxy: S3Proxy): void {
  proxy.fault = () => null;
}

async function arrangeS3(config: NonNullable<SceneOptions['config']> = {}) {
  const proxy = await startS3Proxy();
  const prefix = `${randomUUID()}/`;
  const spoolDir = join(mkdtempSync(join(tmpdir(), 'hummingbird-unsaved-')), 'unsaved');
  await arrangeStopped({
    env: { S3_ID: S3_KEYS.accessKeyId, S3_SECRET: S3_KEYS.secretAccessKey },
    config: {
      ...config,
      store: {
        ...{ kind: 's3', bucket: S3_BUCKET, prefix, endpoint: proxy.url, forcePathStyle: true, spoolDir },
        ...{ attempts: 1, credentials: { accessKeyIdEnv: 'S3_ID', secretAccessKeyEnv: 'S3_SECRET' } },
      },
    },
  });
  return { proxy, prefix, spoolDir };
}
