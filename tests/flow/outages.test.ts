import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { noteHook, pipelineHook } from '../fixtures/hooks.ts';
import { pglite, postgres, redis, titleOf } from '../services/backends.ts';
import { startPostgres } from '../services/postgres.ts';
import { startRedis } from '../services/redis.ts';
import { createScene, deliver, readsOf, type Scene } from './scene.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.each([
  { backend: redis, start: startRedis },
  { backend: postgres, start: startPostgres },
])('with $backend.name as the queue', ({ backend, start }) => {
  async function arrange() {
    const server = await start();
    if (!server) throw new Error(`${backend.name} is not installed`);
    cleanups.push(() => server.stop());
    const scene = await createScene({ backend: { url: server.url, keyPrefix: 'outage' } });
    cleanups.push(() => scene.close());
    return { server, scene };
  }

  describe.skipIf(!backend.available)(titleOf('an outage', backend), () => {
    test(`an event that comes while ${backend.name} is down is kept on disk and done when it is back`, async () => {
      const { server, scene } = await arrange();
      const service = await scene.start();
      await server.stop();
      const answers = await Promise.all([
        deliver(service, payloadFor(scene), { idempotencyKey: 'one' }),
        deliver(service, payloadFor(scene), { idempotencyKey: 'one' }),
      ]);
      expect(answers.map(({ status, body }) => [status, body.status])).toEqual([
        [202, 'spooled'],
        [202, 'spooled'],
      ]);
      const health = await (await fetch(`${service.url}/health/ready`)).json();
      expect(health).toMatchObject({
        status: 'degraded',
        dependencies: expect.arrayContaining([
          expect.objectContaining({ name: 'queue', ok: false, reason: expect.any(String) }),
          expect.objectContaining({
            name: 'spool',
            ok: true,
            details: { events: 2, bytes: expect.any(Number) },
          }),
        ]),
      });
      await server.restart();
      await expect.poll(scene.eyes, { timeout: 30_000 }).toHaveLength(1);
      await expect.poll(() => readdirSync(join(scene.folder, 'spool')), { timeout: 60_000 }).toEqual([]);
      expect(readsOf(scene.gitlab, scene.mr.iid)).toBe(1);
    }, 120_000);

    test(`a service that starts while ${backend.name} is down takes events and works on them later`, async () => {
      const { server, scene } = await arrange();
      await server.stop();
      const service = await scene.start();
      expect(await deliver(service, payloadFor(scene))).toMatchObject({
        status: 202,
        body: { status: 'spooled' },
      });
      await server.restart();
      await expect.poll(scene.eyes, { timeout: 30_000 }).toHaveLength(1);
    }, 120_000);

    test(`503 only when ${backend.name} is down and the disk does not take the event either`, async () => {
      const { server, scene } = await arrange();
      const service = await scene.start();
      const spool = join(scene.folder, 'spool');
      rmSync(spool, { recursive: true });
      writeFileSync(spool, 'a file where the folder should be');
      expect((await deliver(service, payloadFor(scene))).status).toBe(202);
      await server.stop();
      const refused = await deliver(service, payloadFor(scene, { id: 2 }));
      expect(refused).toEqual({
        status: 503,
        body: { error: 'the event could be neither queued nor kept on disk; send it again later' },
      });
      expect((await fetch(`${service.url}/health/ready`)).status).toBe(503);
      rmSync(spool);
      mkdirSync(spool);
      expect((await deliver(service, payloadFor(scene, { id: 2 }))).body.status).toBe('spooled');
      await server.restart();
    }, 120_000);
  });
});

describe.skipIf(!redis.available)(titleOf('a queue that hangs', redis), () => {
  test('does not make GitLab wait: the event is kept on disk within seconds', async () => {
    const server = await startRedis();
    if (!server) throw new Error('Redis is not installed');
    cleanups.push(() => server.stop());
    const scene = await createScene({ backend: { url: server.url, keyPrefix: 'hang' } });
    cleanups.push(() => scene.close());
    const service = await scene.start();
    server.signal('SIGSTOP');
    const before = Date.now();
    const answer = await deliver(service, payloadFor(scene)).finally(() => server.signal('SIGCONT'));
    expect(answer).toMatchObject({ status: 202, body: { status: 'spooled' } });
    expect(Date.now() - before).toBeLessThan(5_000);
    await expect.poll(scene.eyes, { timeout: 30_000 }).toHaveLength(1);
    await expect.poll(() => readdirSync(join(scene.folder, 'spool')), { timeout: 60_000 }).toEqual([]);
    expect(readsOf(scene.gitlab, scene.mr.iid)).toBe(1);
  }, 120_000);
});

describe('with GitLab in trouble', () => {
  test('a job waits for GitLab to come back and is then done once', async () => {
    const scene = await createScene({ backend: await pglite.create() });
    cleanups.push(() => scene.close());
    const service = await scene.start();
    const outage = scene.gitlab.fail({ match: { path: '/merge_requests/' }, with: { status: 503 } });
    await deliver(service, payloadFor(scene));
    await expect
      .poll(() => scene.logged.filter(({ msg }) => msg === 'job failed'), { timeout: 20_000 })
      .toMatchObject([{ willRetry: true, kind: 'analyze' }]);
    outage.lift();
    await expect.poll(scene.eyes, { timeout: 20_000 }).toHaveLength(1);
  }, 60_000);

  test('a reaction that was made but whose answer was lost is there once', async () => {
    const scene = await createScene({ backend: await pglite.create() });
    cleanups.push(() => scene.close());
    const service = await scene.start();
    scene.gitlab.fail({ match: { method: 'POST', path: 'award_emoji', times: 1 }, with: 'commit-then-drop' });
    await deliver(service, payloadFor(scene));
    await expect
      .poll(() => scene.logged.find(({ msg }) => msg === 'job ended'), { timeout: 20_000 })
      .toMatchObject({ ending: 'answered' });
    expect(scene.eyes()).toHaveLength(1);
    const posts = scene.gitlab.requests.filter(
      ({ method, path }) => method === 'POST' && path.includes('award'),
    );
    expect(posts).toHaveLength(1);
  }, 60_000);

  test('a token without the right to write ends the job with a clear reason, once', async () => {
    const scene = await createScene({ backend: await pglite.create() });
    cleanups.push(() => scene.close());
    scene.env.GITLAB_WRITE_TOKEN = scene.env.GITLAB_READ_TOKEN;
    const service = await scene.start();
    await deliver(service, payloadFor(scene));
    await expect
      .poll(() => scene.logged.filter(({ msg }) => msg === 'job ended'), { timeout: 20_000 })
      .toMatchObject([{ ending: 'failed', reason: expect.stringMatching(/higher privileges|scope/) }]);
  }, 60_000);

  test("while the agent does not know its account, the worker tells its own notes from people's", async () => {
    const scene = await createScene({ backend: await pglite.create() });
    cleanups.push(() => scene.close());
    const outage = scene.gitlab.fail({ match: { path: /\/user$/ }, with: { status: 502 } });
    const service = await scene.start();
    const own = { author_id: scene.agent.id };
    const payload = noteHook(own, {
      user: scene.agent,
      project: toProject(scene),
      merge_request: toMr(scene),
    });
    expect((await deliver(service, payload)).body.status).toBe('queued');
    outage.lift();
    await expect
      .poll(() => scene.logged.filter(({ msg }) => msg === 'job ended'), { timeout: 20_000 })
      .toMatchObject([{ ending: 'nothing-to-do', reason: "the note is the agent's own" }]);
  }, 60_000);
});

const toProject = ({ project }: Scene) => ({ id: project.id, path_with_namespace: project.path });
const toMr = ({ mr, project }: Scene) => ({ iid: mr.iid, state: 'opened', target_project_id: project.id });

function payloadFor(scene: Scene, attributes: Record<string, unknown> = {}) {
  return pipelineHook(
    { sha: scene.sha(), ...attributes },
    { project: toProject(scene), merge_request: toMr(scene) },
  );
}
