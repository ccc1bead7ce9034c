import type { Logger } from 'pino';
import { type JobContext, NotYet } from '../queue/queue.ts';
import type { Records } from '../records/records.ts';

const TTL_MS = 30_000;
const RETRY_MS = 3_000;

/** Runs `work` while nobody else works on this session. A job that finds it taken comes back soon. */
export async function holdSession<T>(
  { records, log }: { records: Records; log: Logger },
  sessionId: string,
  { id }: JobContext,
  work: () => Promise<T>,
): Promise<T> {
  const lease = await records.leases.acquire(`session-${sessionId}`, { holder: id, ttlMs: TTL_MS });
  if (!lease) throw new NotYet(`session ${sessionId} is being worked on by another job`, RETRY_MS);
  const renewal = setInterval(() => {
    records.leases.renew(lease, TTL_MS).then(
      (isOurs) => isOurs || log.error({ session: sessionId }, 'session lock was lost'),
      (error) => log.warn({ err: error, session: sessionId }, 'session lock could not be renewed'),
    );
  }, TTL_MS / 3);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    // Unreleased, it runs out by itself; the outcome of the work matters more.
    await records.leases
      .release(lease)
      .catch((error) => log.warn({ err: error }, 'session lock was not released'));
  }
}
