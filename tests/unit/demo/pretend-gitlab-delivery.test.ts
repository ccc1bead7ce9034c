import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import type { PretendGitlabOptions } from '../../../src/demo/gitlab/server.ts';
import { type Reaction, receiveHooks } from './hook-receiver.ts';
import { createScene } from './scene.ts';

/** A scene whose hook for notes is answered as `react` says; `write` is one event. */
async function createDelivering(
  react: (count: number) => Reaction,
  options: PretendGitlabOptions & { signingToken?: string } = {},
) {
  const receiver = await receiveHooks((_received, count) => react(count));
  const scene = await createScene({ hookRetryDelayMs: 1, hookRetries: 0, ...options });
  const hook = scene.gitlab.addHook({
    projectId: scene.project.id,
    url: receiver.url,
    token: 'hush',
    ...(options.signingToken === undefined ? {} : { signingToken: options.signingToken }),
    events: ['note_events'],
  });
  const { projectId, iid } = scene.mr;
  return {
    ...scene,
    hook,
    received: receiver.received,
    write: async () => {
      scene.gitlab.addNote({ projectId, iid, userId: scene.dora.id, body: 'hello' });
      await scene.gitlab.idle();
    },
    [Symbol.asyncDispose]: async () => {
      await scene.gitlab.close();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

test('a signed delivery verifies with the key', async () => {
  const key = randomBytes(32);
  const now = new Date('2026-05-01T10:00:00Z');
  await using scene = await createDelivering(() => 200, {
    signingToken: `whsec_${key.toString('base64')}`,
    now: () => now,
  });

  await scene.write();

  const headers: IncomingHttpHeaders = scene.received[0]?.headers ?? {};
  expect(headers['webhook-id']).toBe(headers['idempotency-key']);
  expect(headers['webhook-timestamp']).toBe(String(now.getTime() / 1000));
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${scene.received[0]?.body}`;
  expect(headers['webhook-signature']).toBe(
    `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  );
});

test('a failed delivery is tried again under the same key', async () => {
  await using scene = await createDelivering((count) => (count < 3 ? 500 : 200), { hookRetries: 3 });

  await scene.write();

  expect(scene.received).toHaveLength(3);
  const values = (name: string) => new Set(scene.received.map(({ headers }) => headers[name]));
  expect(values('idempotency-key').size).toBe(1);
  expect(values('x-gitlab-event-uuid').size).toBe(1);
  expect(values('x-gitlab-webhook-uuid').size).toBe(3);
  expect(new Set(scene.received.map(({ body }) => body)).size).toBe(1);
  expect(scene.hook.deliveries).toMatchObject([
    { attempt: 1, status: 500, responseBody: 'seen' },
    { attempt: 2, status: 500 },
    { attempt: 3, status: 200 },
  ]);
  expect(scene.hook.recentFailures).toBe(0);
});

test('different events have different keys', async () => {
  await using scene = await createDelivering(() => 200);

  await scene.write();
  await scene.write();

  const keys = scene.received.map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(2);
});

test('deliveries are kept without the secret', async () => {
  await using scene = await createDelivering(() => 200);

  await scene.write();

  expect(scene.received[0]?.headers['x-gitlab-token']).toBe('hush');
  expect(scene.hook.deliveries).toMatchObject([
    {
      event: 'note_events',
      requestHeaders: { 'X-Gitlab-Event': 'Note Hook' },
      requestBody: scene.received[0]?.body,
      durationMs: expect.any(Number),
    },
  ]);
  expect(JSON.stringify(scene.hook.deliveries)).not.toContain('hush');
});

test('a receiver that takes too long and one that is away have failed', async () => {
  await using slow = await createDelivering(() => 'never', { hookTimeoutMs: 20 });
  const away = slow.gitlab.addHook({
    projectId: slow.project.id,
    url: 'http://127.0.0.1:1/hook',
    events: ['note_events'],
  });

  await slow.write();

  expect(slow.hook.deliveries).toMatchObject([
    { status: null, error: expect.stringMatching(/timeout/i), responseBody: '' },
  ]);
  expect(away.deliveries).toMatchObject([{ status: null, error: expect.any(String) }]);
  expect([slow.hook.recentFailures, away.recentFailures]).toEqual([1, 1]);
});

test('four failures in a row switch the hook off for a minute, then for two', async () => {
  let now = new Date('2026-05-01T10:00:00Z');
  await using scene = await createDelivering(() => 404, { now: () => now });

  for (let n = 0; n < 3; n += 1) await scene.write();
  expect(scene.hook.disabledUntil).toBeNull();
  await scene.write();
  expect(scene.hook.disabledUntil).toEqual(new Date('2026-05-01T10:01:00Z'));
  await scene.write();
  expect(scene.received).toHaveLength(4);

  now = new Date('2026-05-01T10:01:01Z');
  await scene.write();
  expect(scene.received).toHaveLength(5);
  expect(scene.hook.disabledUntil).toEqual(new Date('2026-05-01T10:03:01Z'));
});

test('a success in between starts the count anew', async () => {
  await using scene = await createDelivering((count) => (count === 4 ? 200 : 500));

  for (let n = 0; n < 7; n += 1) await scene.write();

  expect(scene.received).toHaveLength(7);
  expect(scene.hook).toMatchObject({ recentFailures: 3, disabledUntil: null });
});

test('every attempt counts as a failure, and a hook that is off gets no further ones', async () => {
  await using scene = await createDelivering(() => 500, { hookRetries: 9 });

  await scene.write();

  expect(scene.received).toHaveLength(4);
  expect(scene.hook.disabledUntil).not.toBeNull();
});

test('the pause grows to a day and the fortieth failure is the end', async () => {
  let now = new Date('2026-05-01T10:00:00Z');
  await using scene = await createDelivering(() => 500, { now: () => now });

  const pauses: number[] = [];
  for (let n = 0; n < 40; n += 1) {
    await scene.write();
    if (scene.hook.disabledUntil === null) continue;
    pauses.push((scene.hook.disabledUntil.getTime() - now.getTime()) / 60_000);
    now = new Date(scene.hook.disabledUntil.getTime() + 1);
  }
  await scene.write();

  expect(pauses.slice(0, 4)).toEqual([1, 2, 4, 8]);
  expect(Math.max(...pauses)).toBe(24 * 60);
  expect(scene.hook.permanentlyDisabled).toBe(true);
  expect(scene.received).toHaveLength(40);
});

test('a delivery can be repeated: same event, same key', async () => {
  await using scene = await createDelivering(() => 200);
  await scene.write();
  const [first] = scene.hook.deliveries;

  const repeated = await scene.gitlab.redeliver(first?.id ?? 0);

  expect(repeated).toMatchObject({ status: 200, idempotencyKey: first?.idempotencyKey });
  expect(scene.received).toHaveLength(2);
  expect(scene.received[1]?.body).toBe(scene.received[0]?.body);
  expect(scene.received[1]?.headers['idempotency-key']).toBe(first?.idempotencyKey);
  expect(scene.received[1]?.headers['x-gitlab-webhook-uuid']).not.toBe(
    scene.received[0]?.headers['x-gitlab-webhook-uuid'],
  );
});

test('nothing is repeated to a hook that is off', async () => {
  await using scene = await createDelivering(() => 500, { hookRetries: 3 });
  await scene.write();
  const [first] = scene.hook.deliveries;

  await expect(scene.gitlab.redeliver(first?.id ?? 0)).rejects.toThrow('Hook disabled');
  expect(scene.received).toHaveLength(4);
});

test('closing gives up what is under way', async () => {
  await using scene = await createDelivering(() => 'never', { hookRetries: 100 });
  scene.gitlab.addNote({ ...scene.mr, userId: scene.dora.id, body: 'hello' });

  await scene.gitlab.close();

  expect(scene.hook.deliveries.map((delivery) => delivery.status)).toEqual([null]);
});
