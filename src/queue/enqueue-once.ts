import { createHash } from 'node:crypto';
import type { SeenEvents } from '../records/records.ts';
import type { Job } from './job.ts';
import type { JobQueue } from './queue.ts';

export interface Happening {
  job: Job;
  eventKey: string;
  /** All names of the event, `eventKey` among them. */
  keys: readonly string[];
}

export type Enqueued = { status: 'queued' | 'merged'; job: string } | { status: 'duplicate' };

export interface EnqueueParts {
  queue: Pick<JobQueue, 'add'>;
  events: SeenEvents;
  now: () => number;
  rememberMs: number;
}

/** Longer than queueing can take; a claim left behind by a crash is free again after it. */
const CLAIM_MS = 30_000;

/** Makes a job of what happened, unless that was done before; `held`: somebody else is doing so now. */
export async function enqueueOnce(
  { queue, events, now, rememberMs }: EnqueueParts,
  { job, eventKey, keys: named }: Happening,
): Promise<Enqueued | { status: 'held' }> {
  const keys = named.map(toStoredKey);
  const claim = await events.claim(keys, { now: now(), holdMs: CLAIM_MS });
  if (claim === 'known') return { status: 'duplicate' };
  if (claim === 'held') return { status: 'held' };
  try {
    const { id, merged } = await queue.add(job, eventKey);
    await events.remember(keys, { now: now(), holdMs: rememberMs });
    return { status: merged ? 'merged' : 'queued', job: id };
  } catch (error) {
    // If this fails too, the claim runs out by itself.
    await events.release(keys).catch(() => undefined);
    throw error;
  }
}

/** Whether this has become a job before. */
export function isKnownEvent(
  { events, now }: Pick<EnqueueParts, 'events' | 'now'>,
  eventKey: string,
): Promise<boolean> {
  return events.isKnown([toStoredKey(eventKey)], now());
}

/** Whatever the event's names are made of, what is stored is short and plain. */
function toStoredKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
