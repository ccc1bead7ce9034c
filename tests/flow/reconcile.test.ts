// What no webhook told of is found, and done once.
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import pino from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { reconcileByHand } from '../../src/service/reconciler.ts';
import { backends, pglite, redis, titleOf } from '../services/backends.ts';
import { openAll } from '../services/open-backend.ts';
import { startProgram } from '../services/program.ts';
import { startRedis } from '../services/redis.ts';
import { createScene, deliver, type Scene, WEBHOOK_TOKEN } from './scene.ts';

let scene: Scene;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await scene.close();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const notes = () =>
  scene.gitlab.notes(scene.project.id, scene.mr.iid).filter(({ authorId }) => authorId === scene.agent.id);
const ended = () => scene.logged.filter(({ msg }) => msg === 'job ended');
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

function failPipeline(): void {
  const { gitlab, mr } = scene;
  const pipeline = gitlab.addPipeline({ mergeRequest: mr, jobs: [{ name: 'unit tests' }] });
  gitlab.setJobStatus(gitlab.jobs(pipeline.id)[0]?.id ?? 0, 'failed');
}

interface Event {
  object_kind: string;
  object_attributes: Record<string, unknown>;
}

/** They go to somebody else. */
async function loseWebhooks(): Promise<Event[]> {
  const lost: Event[] = [];
  const server = createServer(async (request, response) => {
    lost.push(JSON.parse(await text(request)));
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  scene.gitlab.addHook({ projectId: scene.project.id, url, events: ['pipeline_events', 'note_events'] });
  return lost;
}

async function reconcile({ dryRun = false } = {}) {
  const { config } = loadConfig({ file: scene.file });
  const setting = { config, log: pino({ level: 'silent' }), env: scene.env };
  const since = new Date(Date.now() - 3_600_000);
  return reconcileByHand(setting, { since, dryRun, signal: AbortSignal.timeout(30_000) });
}

describe.each(backends)('$name', (backend) => {
  describe.skipIf(!backend.available)(titleOf('lost webhooks', backend), () => {
    test('of a failure and of a reply are made up for, once, and a late webhook changes nothing', async () => {
      scene = await createScene({ backend: await backend.create() });
      const lost = await loseWebhooks();
      failPipeline();
      expect(await reconcile({ dryRun: true })).toMatchObject({ missed: [{ job: { kind: 'analyze' } }] });
      expect(await reconcile()).toMatchObject({ missed: [{ job: { kind: 'analyze' } }], mergeRequests: 1 });
      expect(await reconcile({ dryRun: true })).toMatchObject({ missed: [], mergeRequests: 1 });

      const service = await scene.start();
      await poll(notes).toHaveLength(1);
      const failed = lost.findLast((one) => one.object_attributes.status === 'failed');
      expect((await deliver(service, failed)).body).toEqual({ status: 'duplicate' });
      const reply = { ...scene.mr, userId: scene.nadia.id, discussionId: notes()[0]?.discussionId ?? '' };
      const { id } = scene.gitlab.addNote({ ...reply, body: 'Why?' });
      scene.gitlab.addNote({ ...reply, body: 'Thanks!' });
      await scene.stop();
      expect(await reconcile()).toMatchObject({
        missed: [{ job: { kind: 'reply', noteId: id }, why: `note ${id} has no answer` }],
      });
      const again = await scene.start();
      await poll(notes).toHaveLength(2);
      const asked = lost.find((one) => one.object_kind === 'note' && one.object_attributes.id === id);
      expect((await deliver(again, asked)).body).toEqual({ status: 'duplicate' });
    }, 60_000);
  });
});

test('of a call by name in a thread of others is made up for, unless the workflow is not for calls', async () => {
  scene = await createScene({ backend: await pglite.create() });
  const call = {
    ...scene.mr,
    userId: scene.nadia.id,
    body: '@hummingbird why does this fail?',
    thread: true,
  };
  const { id } = scene.gitlab.addNote(call);
  scene.gitlab.addNote({ ...call, body: 'This is for nobody.' });
  scene.gitlab.addNote({ ...call, body: '@hummingbird stop' });
  expect(await reconcile()).toMatchObject({
    missed: [{ job: { kind: 'reply', noteId: id, mentioned: true } }],
  });
  await scene.start();
  await poll(notes).toHaveLength(1);
  await scene.stop();
  expect(await reconcile({ dryRun: true })).toMatchObject({ missed: [] });

  const dir = mkdtempSync(join(tmpdir(), 'hummingbird-workflows-'));
  writeFileSync(join(dir, 'deaf.md'), '---\non: [pipeline_failed]\n---\nFind out.\n');
  scene.configure({ workflows: { dir, onFailedPipeline: 'deaf' } });
  scene.gitlab.addNote({ ...call, body: '@hummingbird and now?' });
  expect(await reconcile({ dryRun: true })).toMatchObject({ missed: [] });
}, 60_000);

test('what failed before there was a merge request is found once there is one', async () => {
  scene = await createScene({ backend: await pglite.create() });
  const { gitlab, mr } = scene;
  const lost = await loseWebhooks();
  gitlab.closeMergeRequest(mr);
  failPipeline();
  await gitlab.idle();
  const failed = lost.findLast((one) => one.object_attributes.status === 'failed');
  const service = await scene.start();
  expect((await deliver(service, { ...failed, merge_request: null })).body.status).toBe('queued');
  await poll(ended).toMatchObject([{ ending: 'nothing-to-do' }]);
  await scene.stop();

  gitlab.reopenMergeRequest(mr);
  // As if it had been opened only now.
  Object.assign(mr, { createdAt: new Date() });
  expect(await reconcile({ dryRun: true })).toMatchObject({ missed: [{ job: { mrIid: mr.iid } }] });
  expect(await reconcile()).toMatchObject({ missed: [{ job: { mrIid: mr.iid } }] });
  await scene.start();
  await poll(notes).toHaveLength(1);
  await scene.stop();
  expect(await reconcile()).toMatchObject({ missed: [] });
}, 60_000);

test('a record whose end was never written hides nothing', async () => {
  const address = await pglite.create();
  scene = await createScene({ backend: address });
  const { project, mr } = scene;
  failPipeline();
  const { records, close } = await openAll(address);
  const id = 'analyze-gone';
  const subject = { projectId: project.id, projectPath: project.path, mrIid: mr.iid, sha: scene.sha() };
  const unknown = { sessionId: null, ending: null, reason: null, failingSince: null, endedAt: null };
  const spent = { usage: null, costMicroUsd: null };
  const run = { id, jobId: id, kind: 'analyze', attempt: 8, startedAt: Date.now(), ...subject, ...unknown };
  await records.runs.save({ ...run, ...spent, state: 'running' });
  await close();
  expect(await reconcile({ dryRun: true })).toMatchObject({ missed: [{ job: { kind: 'analyze' } }] });
}, 60_000);

test('a worker looks by itself, and finds what failed since an analysis', async () => {
  scene = await createScene({ backend: await pglite.create(), config: { reconcile: { everyMs: 500 } } });
  await scene.start();
  failPipeline();
  await poll(notes).toHaveLength(1);
  scene.model.script = () => ({ text: 'And the scan fails.' });
  const scan = { projectId: scene.project.id, sha: scene.sha(), name: 'scan', state: 'failed' as const };
  scene.gitlab.addCommitStatus(scan);
  await poll(() => notes()[0]?.body).toMatch(/^And the scan fails\./);
  const looked = () => scene.logged.filter(({ msg }) => msg === 'looked for lost webhooks');
  const before = looked().length;
  await poll(() => looked().length).toBeGreaterThan(before + 1);
  expect(ended()).toHaveLength(2);
}, 60_000);

test('what can not be looked at is told, and the rest is done', async () => {
  scene = await createScene({
    backend: await pglite.create(),
    config: { projects: { 'shop/checkout': {}, 'gone/**': {} } },
  });
  failPipeline();
  const run = (...args: string[]) => startProgram(['reconcile', ...args, '-c', scene.file], scene.env).ended;
  const { code, stdout, stderr } = await run('--dry-run');
  expect(code).toBe(1);
  expect(stderr).toBe('shop/checkout: 1 merge requests to look at\n');
  expect(stdout).toMatch(
    /^MERGE REQUEST +JOB +WHY\nshop\/checkout!1 +analyze +pipeline \d+ of [0-9a-f]{8} failed, and there is no analysis\n1 would be queued/,
  );
  expect(stdout).toMatch(/could not be looked at: projects 'gone\/\*\*': .*404/);
  expect((await run('--since', 'yesterday')).code).toBe(2);
}, 60_000);

test.skipIf(!redis.available)(
  titleOf('what an emptied database has forgotten is made up for', redis),
  async () => {
    const server = await startRedis();
    if (!server) throw new Error('Redis is not installed');
    cleanups.push(() => server.stop());
    scene = await createScene({
      backend: { url: server.url, keyPrefix: 'emptied' },
      config: { reconcile: { everyMs: 1_000 }, queue: { debounceMs: 3_000, debounceMaxMs: 3_000 } },
    });
    const service = await scene.start();
    const url = `${service.url}/webhooks/gitlab`;
    scene.gitlab.addHook({
      projectId: scene.project.id,
      url,
      token: WEBHOOK_TOKEN,
      events: ['pipeline_events'],
    });
    failPipeline();
    await scene.gitlab.idle();
    const client = new Redis(server.url);
    await client.flushall();
    client.disconnect();
    await poll(notes).toHaveLength(1);
    await poll(ended).toHaveLength(1);
  },
  60_000,
);
