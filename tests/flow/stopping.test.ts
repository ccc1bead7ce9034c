import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { mergeRequestHook, pipelineHook } from '../fixtures/hooks.ts';
import { pglite, postgres, redis, titleOf } from '../services/backends.ts';
import { openAll } from '../services/open-backend.ts';
import { ANSWER, createScene, deliver, type Scene, WEBHOOK_TOKEN } from './scene.ts';
import { failPipeline } from './story-scene.ts';

let scene: Scene;
afterEach(() => scene.close());

test.each([
  ['sends nothing', ''],
  ['sends half a header', 'POST /webhooks/gitlab HTTP/1.1\r\nHost: x\r\nX-Gitl'],
  [
    'sends half a body',
    'POST /webhooks/gitlab HTTP/1.1\r\nHost: x\r\nX-Gitlab-Token: guess\r\nContent-Length: 99\r\n\r\n{',
  ],
])('a client that %s does not keep the service from stopping', async (_name, bytes) => {
  scene = await createScene({ backend: await pglite.create() });
  const { url } = await scene.start();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.write(bytes || ' ', () => resolve()));
  const before = Date.now();
  await scene.stop();
  expect(Date.now() - before).toBeLessThan(9_000);
  socket.destroy();
});

test('an event that is on its way when the service stops is taken', async () => {
  scene = await createScene({ backend: await pglite.create() });
  const { url } = await scene.start('api');
  const body = JSON.stringify(payloadFor(scene));
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const answered = text(socket);
  const head = `POST /webhooks/gitlab HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Gitlab-Token: ${WEBHOOK_TOKEN}\r\n`;
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`);
  await sleep(100);
  const stopped = scene.stop();
  socket.write(body.slice(9));
  expect(await answered).toMatch(/^HTTP\/1.1 202 [\s\S]*"queued"/);
  await stopped;
});

test('a GitLab that hangs at the start does not keep the service from stopping', async () => {
  scene = await createScene({ backend: await pglite.create() });
  scene.gitlab.fail({ with: { delayMs: 60_000 } });
  await scene.start();
  await expect.poll(() => scene.gitlab.requests.length).toBeGreaterThan(0);
  const before = Date.now();
  await scene.stop();
  expect(Date.now() - before).toBeLessThan(5_000);
});

describe.each([redis, postgres])('$name', (backend) => {
  describe.skipIf(!backend.available)(titleOf('a delivery', backend), () => {
    test('that follows one which died half way is done', async () => {
      const address = await backend.create();
      scene = await createScene({ backend: address });
      const payload = payloadFor(scene);
      // What a process leaves behind that is killed between claiming the event and queueing it.
      const { records, close } = await openAll(address);
      const key = createHash('sha256').update('delivery/one').digest('hex');
      await records.events.claim([key], { now: Date.now(), holdMs: 4_000 });
      await close();

      const service = await scene.start();
      const answer = await deliver(service, payload, { idempotencyKey: 'one' });
      expect(answer).toMatchObject({ status: 202, body: { status: 'spooled' } });
      await expect.poll(scene.eyes, { timeout: 20_000 }).toHaveLength(1);
    });
  });
});

test('a push that is heard of late does not take back the failure of its own commit', async () => {
  scene = await createScene({
    backend: await pglite.create(),
    config: { queue: { debounceMs: 1_500, debounceMaxMs: 3_000 } },
  });
  const service = await scene.start();
  const merged = { sha: 'c'.repeat(40), ref: `refs/merge-requests/${scene.mr.iid}/merge` };
  expect((await deliver(service, payloadFor(scene, merged))).body.status).toBe('queued');
  const push = mergeRequestHook({ iid: scene.mr.iid, last_commit: { id: scene.sha() } });
  await deliver(service, { ...push, project: toProject(scene) });
  await expect.poll(scene.eyes, { timeout: 20_000 }).toHaveLength(1);
});

test('a push that is heard of late does not take back a failure whose job has just begun', async () => {
  scene = await createScene({ backend: await pglite.create() });
  const service = await scene.start();
  const reading = { method: 'GET', path: /merge_requests\/\d+$/ };
  scene.gitlab.fail({ match: { ...reading, times: 1 }, with: { delayMs: 1_500 } });
  failPipeline(scene);
  const merged = { sha: 'c'.repeat(40), ref: `refs/merge-requests/${scene.mr.iid}/merge` };
  await deliver(service, payloadFor(scene, merged));
  const isReading = () => scene.gitlab.requests.some(({ path }) => reading.path.test(path));
  await expect.poll(isReading, { timeout: 20_000 }).toBe(true);
  const push = mergeRequestHook({
    iid: scene.mr.iid,
    oldrev: 'a'.repeat(40),
    last_commit: { id: scene.sha() },
  });
  await deliver(service, { ...push, project: toProject(scene) });
  const endings = () => scene.logged.filter(({ msg }) => msg === 'job ended');
  await expect.poll(endings, { timeout: 20_000 }).toMatchObject([{ ending: 'answered' }]);
}, 60_000);

test('a push that is heard of late does not take back a failure that was merged into a job that waits for another try', async () => {
  scene = await createScene({ backend: await pglite.create(), config: { queue: { backoffMs: 6_000 } } });
  const service = await scene.start();
  const outage = scene.gitlab.fail({ match: { path: /award_emoji/ }, with: { status: 503 } });
  failPipeline(scene);
  await deliver(service, payloadFor(scene));
  await expect
    .poll(() => scene.logged.filter(({ msg }) => msg === 'job failed'), { timeout: 20_000 })
    .toMatchObject([{ willRetry: true }]);

  scene.gitlab.pushCommit(scene.mr);
  failPipeline(scene);
  expect((await deliver(service, payloadFor(scene, { id: 900_001 }))).body.status).toBe('merged');
  const push = mergeRequestHook({
    iid: scene.mr.iid,
    oldrev: 'a'.repeat(40),
    last_commit: { id: scene.sha() },
  });
  await deliver(service, { ...push, project: toProject(scene) });
  await expect
    .poll(() =>
      scene.logged.filter(({ kind, msg }) => kind === 'mr-changed' && msg === 'job left the worker'),
    )
    .toHaveLength(1);
  outage.lift();
  const notes = () => scene.gitlab.notes(scene.project.id, scene.mr.iid);
  await expect.poll(notes, { timeout: 20_000 }).toMatchObject([{ body: expect.stringContaining(ANSWER) }]);
}, 60_000);

const toProject = ({ project }: Scene) => ({ id: project.id, path_with_namespace: project.path });

function payloadFor(scene: Scene, attributes: Record<string, unknown> = {}) {
  return pipelineHook(
    { sha: scene.sha(), ...attributes },
    {
      project: toProject(scene),
      merge_request: { iid: scene.mr.iid, state: 'opened', target_project_id: scene.project.id },
    },
  );
}
