import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Service } from '../../src/service/service.ts';
import { build, emojiHook, noteHook, otherHooks, pipelineHook } from '../fixtures/hooks.ts';
import { backends, pglite, titleOf } from '../services/backends.ts';
import { createScene, deliver, OLD_WEBHOOK_TOKEN, type Scene, signed, WEBHOOK_TOKEN } from './scene.ts';

describe.each(backends)('the webhook on $name', (backend) => {
  describe.skipIf(!backend.available)(titleOf('answers', backend), () => {
    let scene: Scene;
    let service: Service;

    beforeAll(async () => {
      scene = await createScene({
        backend: await backend.create(),
        config: { webhook: { maxBodyBytes: 100_000 }, gitlab: { ignoreUsers: ['konflux'] } },
      });
      service = await scene.start();
      // Until then the webhook can not know the agent's own notes.
      await vi.waitFor(() => expect(scene.gitlab.requests.map(({ path }) => path)).toContain('/api/v4/user'));
    });
    afterAll(() => scene.close());

    test.each([
      ['without a secret', {}, 'no X-Gitlab-Token and no webhook-signature that could be checked'],
      ['with a wrong secret', { 'x-gitlab-token': 'guess' }, 'wrong X-Gitlab-Token'],
      ['with a wrong signature', signed(pipelineHook(), { key: randomBytes(32) }), 'wrong webhook-signature'],
      [
        'with an old timestamp',
        signed(pipelineHook(), { at: Date.now() - 600_000 }),
        'webhook-timestamp is outside of the accepted window',
      ],
      [
        'with the right token but a wrong signature',
        { ...signed(pipelineHook(), { key: randomBytes(32) }), 'x-gitlab-token': WEBHOOK_TOKEN },
        'wrong webhook-signature',
      ],
    ])('401 %s', async (_name, headers, error) => {
      expect(await deliver(service, pipelineHook(), { headers })).toEqual({ status: 401, body: { error } });
    });

    test.each([
      ['the current token', { 'x-gitlab-token': WEBHOOK_TOKEN }],
      ['the previous token', { 'x-gitlab-token': OLD_WEBHOOK_TOKEN }],
      ['a signature', signed(otherHooks.push)],
    ])('200 to %s', async (_name, headers) => {
      expect(await deliver(service, otherHooks.push, { headers })).toMatchObject({ status: 200 });
    });

    test.each(['', '{', 'object_kind=pipeline'])('400 to what is not JSON: %j', async (body) => {
      expect(await deliver(service, body)).toEqual({ status: 400, body: { error: 'the body is not JSON' } });
    });

    test.each(['application/json', 'text/plain', 'foo', ';;;'])(
      '200 whatever the content calls itself: %s',
      async (type) => {
        const headers = { 'x-gitlab-token': WEBHOOK_TOKEN, 'content-type': type };
        expect(await deliver(service, `\ufeff${JSON.stringify(otherHooks.push)}`, { headers })).toMatchObject(
          { status: 200 },
        );
      },
    );

    test('413 over the size limit, and 401 first when the secret is wrong', async () => {
      const large = { ...pipelineHook(), padding: 'x'.repeat(100_000) };
      expect(await deliver(service, large)).toMatchObject({ status: 413 });
      expect(await deliver(service, large, { headers: { 'x-gitlab-token': 'guess' } })).toMatchObject({
        status: 401,
      });
    });

    test.each<[string, () => unknown, string]>([
      [
        'a running pipeline',
        () => inProject(pipelineHook({ status: 'running' })),
        'the pipeline is running, not failed',
      ],
      [
        'a cancelled pipeline',
        () => inProject(pipelineHook({ status: 'canceled' })),
        'the pipeline is canceled, not failed',
      ],
      [
        'only jobs that may fail',
        () => inProject(pipelineHook({}, { builds: [build({ allow_failure: true })] })),
        'only jobs that are allowed to fail have failed',
      ],
      [
        'a closed merge request',
        () => inProject(pipelineHook({}, { merge_request: { iid: 1, state: 'closed' } })),
        'merge request !1 is closed',
      ],
      [
        'a note on a merged merge request',
        () => inProject(noteHook({}, { merge_request: { iid: 1, state: 'merged' } })),
        'merge request !1 is merged',
      ],
      [
        'a project that is not allowed',
        () => pipelineHook({}, { project: { id: 99, path_with_namespace: 'bank/vault' } }),
        'project bank/vault is not in the configured projects',
      ],
      ['an edited note', () => inProject(noteHook({ action: 'update' })), 'the note was edited, not written'],
      [
        'an internal note',
        () => inProject(noteHook({}, { event_type: 'confidential_note' })),
        'the note is internal; its content is not for everyone on the merge request',
      ],
      ['a system note', () => inProject(noteHook({ system: true })), 'it is a system note'],
      [
        "the agent's own note",
        () => inProject(noteHook({ author_id: scene.agent.id }, { user: scene.agent })),
        "it is the agent's own doing",
      ],
      [
        "another bot's note",
        () => inProject(noteHook({ author_id: 80 }, { user: { id: 80, username: 'project_12_bot_1f3a9c' } })),
        'project_12_bot_1f3a9c is a bot',
      ],
      [
        'a configured bot',
        () => inProject(noteHook({ author_id: 81 }, { user: { id: 81, username: 'konflux' } })),
        'user konflux is configured to be ignored',
      ],
      [
        "a reaction on a person's note",
        () => inProject(emojiHook({}, { note: { id: 1, author_id: 42, noteable_type: 'MergeRequest' } })),
        "the reaction is not on a note of the agent's",
      ],
      ['a push', () => otherHooks.push, "'push' events are not used"],
      ['something that is no event', () => [1, 2], 'the event is not a JSON object'],
    ])('200 with the reason to %s', async (_name, payload, reason) => {
      await expect
        .poll(() => deliver(service, payload()))
        .toEqual({ status: 200, body: { status: 'ignored', reason } });
    });

    test('404 elsewhere', async () => {
      expect((await fetch(`${service.url}/webhooks/other`, { method: 'POST' })).status).toBe(404);
    });

    test('no secret in any log line', () => {
      const lines = JSON.stringify(scene.logged);
      for (const secret of Object.values(scene.env).filter(
        (value) => !/^(?:pglite|postgres|redis):/.test(value),
      ))
        expect(lines).not.toContain(secret);
      expect(lines).toContain('webhook refused');
    });

    function inProject(payload: Record<string, unknown>): unknown {
      const { project } = scene;
      return { ...payload, project: { id: project.id, path_with_namespace: project.path } };
    }
  });
});

test('the service refuses to start without any webhook secret, naming all that is missing', async () => {
  const scene = await createScene({ backend: await pglite.create() });
  for (const name of Object.keys(scene.env))
    if (/WEBHOOK|GITLAB/.test(name)) Reflect.deleteProperty(scene.env, name);
  await expect(scene.start()).rejects.toThrow(/no webhook secret/);
  await expect(scene.start()).rejects.toThrow(/GITLAB_READ_TOKEN.*GITLAB_WRITE_TOKEN/s);
  await scene.close();
});
