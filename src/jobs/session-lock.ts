import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { RetryableError } from '../errors.ts';
import { type JobContext, NotYet } from '../queue/queue.ts';
import type { Lease, Records } from '../records/records.ts';
import type { WhileFree } from '../session/prune.ts';

/** A job while nobody else works on its session. */
export type HeldJob = JobContext & Held;

export interface Held {
  lease: Lease;
  /** Grows with each holder of the session: whoever comes with a smaller one is late. */
  fence: number;
}

interface Locking {
  records: Pick<Records, 'leases'>;
  log: Logger;
}

const TTL_MS = 30_000;
const RETRY_MS = 3_000;
/** Writing a note takes a few requests. */
const NOTE_WAIT_MS = 20_000;
const NOTE_POLL_MS = 200;

/** Runs `work` while nobody else works on this session; its signal ends with the lock. A job that finds it taken comes back soon. */
export async function holdSession<Context extends Pick<JobContext, 'id' | 'signal'>, T>(
  locking: Locking,
  sessionId: string,
  context: Context,
  work: (held: Context & Held) => Promise<T>,
): Promise<T> {
  const lease = await locking.records.leases.acquire(leaseOf(sessionId), {
    holder: context.id,
    ttlMs: TTL_MS,
  });
  if (!lease) throw new NotYet(`session ${sessionId} is being worked on by another job`, RETRY_MS);
  return keep(locking, lease, context.signal, (signal) =>
    work({ ...context, signal, lease, fence: lease.token }),
  );
}

/** Runs `work` while nobody else writes the analysis note of this merge request. */
export async function holdNote<T>(
  locking: Locking,
  mr: { projectId: number; iid: number },
  { id, signal }: Pick<JobContext, 'id' | 'signal'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const name = `note-${mr.projectId}!${mr.iid}`;
  const deadline = performance.now() + NOTE_WAIT_MS;
  while (true) {
    const lease = await locking.records.leases.acquire(name, { holder: id, ttlMs: TTL_MS });
    if (lease) return keep(locking, lease, signal, work);
    if (performance.now() > deadline) throw new RetryableError(`the note of !${mr.iid} is being written`);
    await sleep(NOTE_POLL_MS, undefined, { signal });
  }
}

async function keep<T>(
  { records, log }: Locking,
  lease: Lease,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const lose = (): void => lost.abort(new NotYet(`the lock ${lease.name} was lost`, RETRY_MS));
  let renewedAt = performance.now();
  const renewal = setInterval(() => {
    const askedAt = performance.now();
    records.leases.renew(lease, TTL_MS).then(
      (isOurs) => {
        if (isOurs) renewedAt = askedAt;
        else lose();
      },
      (error) => {
        log.warn({ err: error, lock: lease.name }, 'lock could not be renewed');
        if (performance.now() - renewedAt > TTL_MS) lose();
      },
    );
  }, TTL_MS / 3);
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(renewal);
    // Unreleased, it runs out by itself; the outcome of the work matters more.
    await records.leases
      .release(lease)
      .catch((error) => log.warn({ err: error, lock: lease.name }, 'lock was not released'));
  }
}

/** For work that is done at once, or not at all while a job holds the session. */
export function whileSessionIsFree(locking: Locking): WhileFree {
  return async (sessionId, work) => {
    const lease = await locking.records.leases.acquire(leaseOf(sessionId), {
      holder: `upkeep-${randomUUID()}`,
      ttlMs: TTL_MS,
    });
    if (!lease) return false;
    await keep(locking, lease, new AbortController().signal, work);
    return true;
  };
}

function leaseOf(sessionId: string): string {
  return `session-${sessionId}`;
}
