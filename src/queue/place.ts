import { laneOf } from './job.ts';
import type { QueueDependencies } from './open-queue.ts';
import type { JobContext, QueueOptions, WorkOptions } from './queue.ts';

export interface PlaceSetting {
  deps: Pick<QueueDependencies, 'leases'>;
  options: Pick<QueueOptions, 'lockMs'>;
  work: Pick<WorkOptions, 'maxConcurrent' | 'onError'>;
}

/** How long a job steps aside when its project has no free place. */
export const PARK_MS = 500;
/** How long a reply is waited for meanwhile. */
const AWAITED_MS = 4 * PARK_MS;

/** A place among the project's running jobs, in all workers together; null when there is none free. */
export async function takePlace(
  { deps, options, work }: PlaceSetting,
  { id, job }: JobContext,
): Promise<{ release(): Promise<void> } | null> {
  if (laneOf(job) === 'signals') return { release: async () => undefined };
  const places = `project-${job.project.id}`;
  // Whoever found no place comes back at a time of chance, so a reply that did is waited for by the others.
  const awaited = `${places}-awaited`;
  const isReply = job.kind === 'reply';
  if (!isReply && (await deps.leases.holders(awaited)).length > 0) return null;
  const limit = work.maxConcurrent(job);
  const lease = await deps.leases.acquire(places, { holder: id, ttlMs: options.lockMs, limit });
  if (!lease && isReply)
    await deps.leases.acquire(awaited, { holder: id, ttlMs: AWAITED_MS, limit: Number.MAX_SAFE_INTEGER });
  if (!lease) return null;
  if (isReply) await stopWaiting(deps, awaited, id);
  const renewal = setInterval(
    () =>
      deps.leases
        .renew(lease, options.lockMs)
        .then(
          (isOurs) =>
            isOurs || work.onError(new Error(`job ${id} lost its place in project ${job.project.id}`)),
          work.onError,
        ),
    options.lockMs / 3,
  );
  return {
    async release() {
      clearInterval(renewal);
      // Unreleased, it runs out by itself; the job's own ending matters more.
      await deps.leases.release(lease).catch(work.onError);
    },
  };
}

/** The next free place is anybody's. */
async function stopWaiting({ leases }: PlaceSetting['deps'], awaited: string, id: string): Promise<void> {
  for (const { holder, token } of await leases.holders(awaited))
    if (holder === id) await leases.release({ name: awaited, holder, token });
}
