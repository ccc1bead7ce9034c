import { afterEach, describe, expect, test } from 'vitest';
import { pipelineHook } from '../fixtures/hooks.ts';
import { backends, pglite, titleOf } from '../services/backends.ts';
import { createScene, deliver, readsOf, type Scene } from './scene.ts';
import { launch, run, stopProcesses } from './service-process.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopProcesses();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.each(backends.filter(({ shared }) => shared))('$name', (backend) => {
  describe.skipIf(!backend.available)(titleOf('separate processes', backend), () => {
    test('the API queues while no worker is there; a worker does the job; both stop when asked', async () => {
      const scene = await arrange(await backend.create());
      const api = await run(scene, 'api');
      expect(await deliver(api, payloadFor(scene))).toMatchObject({
        status: 202,
        body: { status: 'queued' },
      });
      const worker = await run(scene, 'worker');
      await expect.poll(scene.eyes, { timeout: 20_000 }).toHaveLength(1);

      await expect
        .poll(() => ready(api), { timeout: 10_000 })
        .toMatchObject({
          status: 'ok',
          role: 'api',
          dependencies: [
            { name: 'queue', ok: true, latencyMs: expect.any(Number), details: { waiting: 0, active: 0 } },
            { name: 'spool', ok: true, details: { events: 0 } },
            { name: 'intake', ok: true },
          ],
        });
      expect(await ready(worker)).toMatchObject({
        status: 'ok',
        role: 'worker',
        dependencies: [
          { name: 'queue' },
          { name: 'gitlab', ok: true, latencyMs: expect.any(Number) },
          { name: 'sandbox', ok: true },
          { name: 'store', ok: true },
        ],
      });
      expect((await fetch(`${worker.url}/webhooks/gitlab`, { method: 'POST' })).status).toBe(404);
      expect(await api.end()).toBe(0);
      expect(await worker.end()).toBe(0);
    }, 60_000);
  });
});

describe('one process on the embedded database', () => {
  test('a job that waits when the process is killed is done after the restart', async () => {
    const scene = await arrange(await pglite.create(), {
      queue: { debounceMs: 3_000, debounceMaxMs: 3_000 },
    });
    const first = await run(scene, 'all');
    expect((await deliver(first, payloadFor(scene))).body.status).toBe('queued');
    await first.kill();
    expect(scene.eyes()).toEqual([]);
    const second = await run(scene, 'all');
    await expect.poll(scene.eyes, { timeout: 20_000 }).toHaveLength(1);
    expect((await deliver(second, payloadFor(scene))).body.status).toBe('duplicate');
    expect(readsOf(scene.gitlab, scene.mr.iid)).toBe(1);
    expect(await second.end()).toBe(0);
  }, 90_000);

  test('a second process on the same folder is refused and told who has it', async () => {
    const scene = await arrange(await pglite.create());
    const first = await run(scene, 'all');
    const second = launch(scene, 'all');
    const errors = await second.failed();
    expect(errors.code).toBe(1);
    expect(errors.text).toContain(`is in use by process ${first.pid}`);
    expect((await fetch(`${first.url}/health/live`)).status).toBe(200);
    expect(await first.end()).toBe(0);
  }, 60_000);

  test('readiness says 503 and why, when a worker can not reach GitLab', async () => {
    const scene = await arrange(await pglite.create());
    const worker = await run(scene, 'worker');
    scene.gitlab.fail({ with: { status: 502 } });
    await expect
      .poll(() => ready(worker), { timeout: 10_000 })
      .toMatchObject({
        status: 'unavailable',
        dependencies: [
          { name: 'queue', ok: true },
          { name: 'gitlab', ok: false, reason: expect.stringContaining('502') },
          { name: 'sandbox', ok: true },
          { name: 'store', ok: true },
        ],
      });
    expect((await fetch(`${worker.url}/health/ready`)).status).toBe(503);
    expect(await (await fetch(`${worker.url}/health/live`)).json()).toMatchObject({ status: 'ok' });
  }, 60_000);
});

async function arrange(backend: { url: string; keyPrefix: string }, config = {}): Promise<Scene> {
  const scene = await createScene({ backend, config });
  cleanups.push(() => scene.close());
  return scene;
}

async function ready({ url }: { url: string }): Promise<unknown> {
  return (await fetch(`${url}/health/ready`)).json();
}

function payloadFor({ project, mr, sha }: Scene) {
  return pipelineHook(
    { sha: sha() },
    {
      project: { id: project.id, path_with_namespace: project.path },
      merge_request: { iid: mr.iid, state: 'opened', target_project_id: project.id },
    },
  );
}
