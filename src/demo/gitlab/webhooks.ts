import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Announcement, Delivery, Hook, HookEvent } from './hook.ts';
import { isEnabled, recordOutcome } from './hook-health.ts';

import type { World } from './state.ts';
import { GITLAB_VERSION } from './version.ts';

export type DeliveryOptions = {
  timeoutMs: number;
  /** Further attempts after one that failed. */
  retries: number;
  retryDelayMs: number;
};

export type Webhooks = {
  /** Resolves once nothing is being delivered and no retry is due. */
  idle(): Promise<void>;
  /** Sends the event of an earlier delivery once more, under the same Idempotency-Key. */
  redeliver(deliveryId: number): Promise<Delivery>;
  /** Gives up what is under way. */
  stop(): Promise<void>;
};

/** Tells the world's hooks what is announced, side by side and in no order, as GitLab's workers do. */
export function deliverWebhooks(world: World, options: DeliveryOptions): Webhooks {
  const underWay = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  const start = <T>(work: Promise<T>): Promise<T> => {
    const tracked = work.finally(() => underWay.delete(tracked));
    underWay.add(tracked);
    return tracked;
  };
  const idle = async () => {
    while (underWay.size > 0) await Promise.allSettled(underWay);
  };
  const sender: Sender = { world, options, signal: stopping.signal };
  world.onAnnouncement((announcement) => {
    for (const message of toMessages(world, announcement)) void start(deliver(sender, message));
  });
  return {
    idle,
    redeliver: async (deliveryId) => {
      const message = findMessage(world, deliveryId);
      if (!isEnabled(message.hook, world.now()))
        throw new Error('Hook disabled; GitLab resends nothing to it.');
      return start(attempt(sender, message, 1));
    },
    stop: async () => {
      stopping.abort();
      await idle();
    },
  };
}

type Sender = { world: World; options: DeliveryOptions; signal: AbortSignal };
type Message = { hook: Hook; event: HookEvent; body: string; idempotencyKey: string; eventUuid: string };

function toMessages(world: World, { projectId, event, payload }: Announcement): Message[] {
  const body = JSON.stringify(payload);
  const eventUuid = randomUUID();
  return [...world.hooks.values()]
    .filter((hook) => hook.projectId === projectId && hook.events.includes(event))
    .filter((hook) => isEnabled(hook, world.now()))
    .map((hook) => ({ hook, event, body, idempotencyKey: randomUUID(), eventUuid }));
}

async function deliver(sender: Sender, message: Message): Promise<void> {
  for (let number = 1; number <= sender.options.retries + 1; number += 1) {
    if (number > 1) await pause(sender);
    if (sender.signal.aborted || !isEnabled(message.hook, sender.world.now())) return;
    const { status } = await attempt(sender, message, number);
    if (isSuccess(status)) return;
  }
}

async function attempt(sender: Sender, message: Message, number: number): Promise<Delivery> {
  const { world } = sender;
  const { hook, event, idempotencyKey, body } = message;
  const headers = toHeaders(world, message);
  const startedAt = performance.now();
  const answer = await post(sender, hook, headers, body);
  const delivery: Delivery = {
    id: world.nextId('delivery'),
    hookId: hook.id,
    event,
    idempotencyKey,
    attempt: number,
    ...answer,
    requestHeaders: headers,
    requestBody: body,
    durationMs: performance.now() - startedAt,
  };
  hook.deliveries.push(delivery);
  recordOutcome(hook, isSuccess(delivery.status), world.now());
  return delivery;
}

async function post(
  { options, signal }: Sender,
  hook: Hook,
  headers: Record<string, string>,
  body: string,
): Promise<Pick<Delivery, 'status' | 'error' | 'responseBody'>> {
  const secret: Record<string, string> = hook.token === null ? {} : { 'X-Gitlab-Token': hook.token };
  try {
    const response = await fetch(hook.url, {
      method: 'POST',
      headers: { ...headers, ...secret },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
    });
    return { status: response.status, error: null, responseBody: await response.text() };
  } catch (error) {
    return { status: null, error: String(error), responseBody: '' };
  }
}

function toHeaders(world: World, message: Message): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': `GitLab/${GITLAB_VERSION}`,
    'Idempotency-Key': message.idempotencyKey,
    'X-Gitlab-Event': EVENT_NAMES[message.event],
    'X-Gitlab-Webhook-UUID': randomUUID(),
    'X-Gitlab-Event-UUID': message.eventUuid,
    'X-Gitlab-Instance': world.url,
    ...sign(world, message),
  };
}

/** The Standard Webhooks form; GitLab uses the idempotency key as the message's id. */
function sign(world: World, { hook, body, idempotencyKey }: Message): Record<string, string> {
  if (hook.signingToken === null) return {};
  const timestamp = String(Math.floor(world.now().getTime() / 1000));
  const key = Buffer.from(hook.signingToken.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key)
    .update(`${idempotencyKey}.${timestamp}.${body}`)
    .digest('base64');
  return {
    'webhook-id': idempotencyKey,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}

const EVENT_NAMES: Record<HookEvent, string> = {
  push_events: 'Push Hook',
  merge_requests_events: 'Merge Request Hook',
  note_events: 'Note Hook',
  confidential_note_events: 'Confidential Note Hook',
  pipeline_events: 'Pipeline Hook',
  job_events: 'Job Hook',
  emoji_events: 'Emoji Hook',
};

function findMessage(world: World, deliveryId: number): Message {
  for (const hook of world.hooks.values()) {
    const found = hook.deliveries.find((delivery) => delivery.id === deliveryId);
    if (found === undefined) continue;
    const { event, idempotencyKey, requestBody } = found;
    return { hook, event, body: requestBody, idempotencyKey, eventUuid: randomUUID() };
  }
  throw new Error(`No hook has a delivery ${deliveryId}.`);
}

async function pause({ options, signal }: Sender): Promise<void> {
  try {
    await setTimeout(options.retryDelayMs, undefined, { signal });
  } catch {
    // Stopped meanwhile: the loop looks at the signal next.
  }
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}
