import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { type JobContext, NotYet } from '../queue/queue.ts';
import type { Records } from '../records/records.ts';
import type { WhileFree } from '../session/prune.ts';

const TTL_MS = 30_000;
const RETRY_MS = 3_000;

/** Runs `work` while nobody else works on this session; its signal ends with the lock. A job that finds it taken comes back soon. */
export async function holdSession<T>(
  { records, log }: { records: Records; log: Logger },
  sessionId: string,
  context: JobContext,
  work: (held: JobContext) => Promise<T>,
): Promise<T> {
  const lease = await records.leases.acquire(leaseOf(sessionId), { holder: context.id, ttlMs: TTL_MS });
  if (!lease) throw new NotYet(`session ${sessionId} is being worked on by another job`, RETRY_MS);
  const lost = new AbortController();
  const renewal = setInterval(() => {
    records.leases.renew(lease, TTL_MS).then(
      (isOurs) => isOurs || lost.abort(new NotYet(`the lock of session ${sessionId} was lost`, RETRY_MS)),
      (error) => log.warn({ err: error, session: sessionId }, 'session lock could not be renewed'),
    );
  }, TTL_MS / 3);
  try {
    return await work({ ...context, signal: AbortSignal.any([context.signal, lost.signal]) });
  } finally {
    clearInterval(renewal);
    // Unreleased, it runs out by itself; the outcome of the work matters more.
    await records.leases
      .release(lease)
      .catch((error) => log.warn({ err: error }, 'session lock was not released'));
  }
}

/** For work that is done at once, or not at all while a job holds the session. */
export function whileSessionIsFree({ leases }: Pick<Records, 'leases'>): WhileFree {
  return async (sessionId, work) => {
    const lease = await leases.acquire(leaseOf(sessionId), {
      holder: `upkeep-${randomUUID()}`,
      ttlMs: TTL_MS,
    });
    if (!lease) return false;
    try {
      await work();
      return true;
    } finally {
      await leases.release(lease);
    }
  };
}

function leaseOf(sessionId: string): string {
  return `session-${sessionId}`;
}
