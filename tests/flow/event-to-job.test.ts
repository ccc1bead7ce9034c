import { afterEach, describe, expect, test } from 'vitest';
import { externalPipelineHook, pipelineHook } from '../fixtures/hooks.ts';
import { backends, titleOf } from '../services/backends.ts';
import { createScene, deliver, readsOf, type Scene, WEBHOOK_TOKEN } from './scene.ts';

const HOUR = 3_600_000;

describe.each(backends)('$name', (backend) => {
  describe.skipIf(!backend.available)(titleOf('an event', backend), () => {
    let scene: Scene;
    afterEach(() => scene.close());

    test('GitLab reports a failed pipeline, and the merge request gets one reaction', async () => {
      scene = await createScene({ backend: await backend.create() });
      const { gitlab, project, mr } = scene;
      const service = await scene.start();
      const hook = gitlab.addHook({
        projectId: project.id,
        url: `${service.url}/webhooks/gitlab`,
        token: WEBHOOK_TOKEN,
        events: ['pipeline_events', 'merge_requests_events', 'note_events', 'emoji_events'],
      });
      const pipeline = gitlab.addPipeline({
        mergeRequest: mr,
        jobs: [{ name: 'compile' }, { name: 'unit tests' }],
      });
      const [compile, tests] = gitlab.jobs(pipeline.id);
      gitlab.setJobStatus(compile?.id ?? 0, 'success');
      gitlab.setJobStatus(tests?.id ?? 0, 'failed', { failureReason: 'script_failure' });
      await expect.poll(scene.eyes, { timeout: 10_000 }).toMatchObject([{ userId: scene.agent.id }]);
      await gitlab.idle();
      expect(hook.deliveries.every(({ status }) => status === 200 || status === 202)).toBe(true);
      const queued = hook.deliveries.filter(({ responseBody }) => responseBody.includes('"queued"'));
      expect(queued).toHaveLength(1);
      expect(readsOf(gitlab, mr.iid)).toBe(1);
    });

    test('an external pipeline names no merge request: it is found by the commit', async () => {
      scene = await createScene({ backend: await backend.create() });
      const { gitlab, project } = scene;
      const service = await scene.start();
      gitlab.addHook({
        projectId: project.id,
        url: `${service.url}/webhooks/gitlab`,
        token: WEBHOOK_TOKEN,
        events: ['pipeline_events'],
      });
      gitlab.addCommitStatus({
        projectId: project.id,
        sha: scene.sha(),
        name: 'Konflux / checkout-on-pull-request',
        state: 'failed',
      });
      await expect.poll(scene.eyes, { timeout: 10_000 }).toHaveLength(1);
      const lookup = gitlab.requests.filter(({ path }) =>
        path.endsWith(`/commits/${scene.sha()}/merge_requests`),
      );
      expect(lookup).toMatchObject([{ status: 200, username: 'hummingbird' }]);
    });

    test('the same webhook twenty times at once and again an hour later is one job', async () => {
      let now = Date.now();
      scene = await createScene({ backend: await backend.create(), now: () => now });
      const service = await scene.start();
      const payload = payloadFor(scene);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => deliver(service, payload, { idempotencyKey: 'one' })),
      );
      expect(answers.filter(({ body }) => body.status === 'queued')).toHaveLength(1);
      expect(answers.filter(({ body }) => body.status === 'duplicate')).toHaveLength(19);
      await expect.poll(scene.eyes, { timeout: 10_000 }).toHaveLength(1);

      now += HOUR;
      const later = [
        await deliver(service, payload, { idempotencyKey: 'one' }),
        await deliver(service, payload, { idempotencyKey: 'another, from a second hook' }),
        await deliver(service, payload, {
          headers: { 'x-gitlab-token': WEBHOOK_TOKEN, 'idempotency-key': '' },
        }),
      ];
      expect(later.map(({ status, body }) => [status, body.status])).toEqual([
        [200, 'duplicate'],
        [200, 'duplicate'],
        [200, 'duplicate'],
      ]);
      expect(readsOf(scene.gitlab, scene.mr.iid)).toBe(1);
    });

    test('several failures of one merge request within the debounce are one job', async () => {
      scene = await createScene({ backend: await backend.create() });
      const service = await scene.start();
      const first = await deliver(service, payloadFor(scene, { id: 1 }));
      const second = await deliver(service, payloadFor(scene, { id: 2 }));
      expect([first.body.status, second.body.status]).toEqual(['queued', 'merged']);
      expect(second.body.job).toBe(first.body.job);
      await expect.poll(scene.eyes, { timeout: 10_000 }).toHaveLength(1);
      expect(readsOf(scene.gitlab, scene.mr.iid)).toBe(1);
    });

    test('an external failure without an open merge request ends quietly', async () => {
      scene = await createScene({ backend: await backend.create() });
      const service = await scene.start();
      const { project, gitlab, mr } = scene;
      gitlab.closeMergeRequest(mr);
      const payload = {
        ...externalPipelineHook({ sha: scene.sha() }),
        project: { id: project.id, path_with_namespace: project.path },
      };
      expect((await deliver(service, payload)).body.status).toBe('queued');
      await expect
        .poll(() => scene.logged.filter(({ msg }) => msg === 'job ended'), { timeout: 10_000 })
        .toMatchObject([
          { ending: 'nothing-to-do', reason: `no open merge request has commit ${scene.sha()}` },
        ]);
      expect(scene.eyes()).toEqual([]);
    });
  });
});

function payloadFor({ project, mr, sha }: Scene, attributes: Record<string, unknown> = {}) {
  return pipelineHook(
    { sha: sha(), ...attributes },
    {
      project: { id: project.id, path_with_namespace: project.path },
      merge_request: { iid: mr.iid, state: 'opened', target_project_id: project.id },
    },
  );
}
