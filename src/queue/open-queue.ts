import { createHash, randomUUID } from 'node:crypto';
import type { Job as BullJob, JobsOptions } from 'bullmq';
import type { Database } from '../database/database.ts';
import type { Channel, Leases } from '../records/records.ts';
import { type BullQueue, createBullQueue, prepareBackend, type Stored } from './backend.ts';
import { type Job, LANES, type Lane, laneOf, mergeKeyOf, priorityOf } from './job.ts';
import { type JobQueue, type ListedJob, type QueueOptions, STOP_TOPIC, type StopMessage } from './queue.ts';
import { startWorker } from './worker.ts';

/** Of one event with jobs that begin or end just then. */
const MAX_MERGES = 5;
const KEEP_FAILED_SECONDS = 30 * 24 * 3_600;

export interface QueueDependencies {
  database: Database;
  leases: Leases;
  channel: Channel;
  onError: (error: Error) => void;
}

export async function openQueue(deps: QueueDependencies, options: QueueOptions): Promise<JobQueue> {
  await prepareBackend(deps.database);
  const lanes = new Map<Lane, BullQueue>();
  for (const lane of LANES) {
    const queue = createBullQueue(deps.database, lane);
    queue.on('error', deps.onError);
    lanes.set(lane, queue);
  }
  const queues = [...lanes.values()];
  await Promise.all(queues.map((queue) => queue.waitUntilReady()));

  async function stop(found: BullJob<Stored>, reason: string): Promise<'stopping'> {
    await found.updateData({ ...found.data, cancelled: reason });
    const message: StopMessage = { id: found.id ?? '', reason };
    // Unheard, it is found with the job, a moment later.
    await deps.channel.publish(STOP_TOPIC, message).catch(deps.onError);
    return 'stopping';
  }

  return {
    async add(job, eventKey) {
      const id = toJobId(job, eventKey);
      const added = await addTo(queueOf(lanes, job), id, job, options);
      return { id: added, merged: added !== id };
    },

    async waiting(mergeKey) {
      for (const queue of queues) {
        const id = await queue.getDeduplicationJobId(mergeKey);
        const found = id ? await queue.getJob(id) : undefined;
        if (id && found && !(await found.isActive())) return { id, job: found.data.job };
      }
      return null;
    },

    async cancel(id, reason) {
      for (const queue of queues) {
        const found = await queue.getJob(id);
        if (!found) continue;
        const state = await found.getState();
        if (state === 'completed' || state === 'failed') return 'not-found';
        if (state !== 'active' && (await queue.remove(id)) === 1) return 'removed';
        return stop(found, reason);
      }
      return 'not-found';
    },

    async stopRunning(id, reason) {
      for (const queue of queues) {
        const found = await queue.getJob(id);
        if (found && (await found.isActive())) return stop(found, reason);
      }
      return 'not-found';
    },

    async stateOf(kind, eventKey) {
      const id = `${kind}-${toHash(eventKey)}`;
      for (const queue of queues) {
        const state = await queue.getJobState(id);
        if (state !== 'unknown') return state === 'completed' || state === 'failed' ? 'done' : 'pending';
      }
      return 'unknown';
    },

    async list(limit = Number.POSITIVE_INFINITY) {
      const found = await Promise.all(queues.map((queue) => listJobs(queue, limit)));
      return found
        .flat()
        .toSorted((a, b) => b.addedAt - a.addedAt)
        .slice(0, limit);
    },

    async retry(id) {
      for (const queue of queues) {
        const found = await queue.getJob(id);
        if (!found || !(await found.isFailed())) continue;
        const { cancelled: _, ...data } = found.data;
        await found.updateData({ ...data, forgiven: found.stalledCounter });
        await found.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
        return true;
      }
      return false;
    },

    async counts() {
      const all = await Promise.all(queues.map((queue) => queue.getJobCounts()));
      const sum = (...states: string[]): number =>
        all.flatMap((counts) => states.map((state) => counts[state] ?? 0)).reduce((a, b) => a + b, 0);
      return {
        waiting: sum('waiting', 'prioritized'),
        active: sum('active'),
        delayed: sum('delayed'),
        failed: sum('failed'),
      };
    },

    work: (handler, workOptions) => startWorker(deps, options, { handler, ...workOptions }),

    async close() {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

function queueOf(lanes: Map<Lane, BullQueue>, job: Job): BullQueue {
  const queue = lanes.get(laneOf(job));
  if (!queue) throw new Error(`no lane for ${job.kind}`);
  return queue;
}

/** Merged jobs are told apart by their merge key, and BullMQ must not meet an old one under a new one's id. */
function toJobId(job: Job, eventKey: string): string {
  if (mergeKeyOf(job) !== null) return `${job.kind}-${randomUUID()}`;
  return `${job.kind}-${toHash(eventKey)}`;
}

function toHash(eventKey: string): string {
  return createHash('sha256').update(eventKey).digest('hex').slice(0, 32);
}

const STATES = {
  waiting: ['waiting', 'prioritized'],
  active: ['active'],
  delayed: ['delayed'],
  failed: ['failed'],
} as const;

async function listJobs(queue: BullQueue, limit: number): Promise<ListedJob[]> {
  const listed = Object.entries(STATES).map(async ([state, names]) => {
    const jobs = await queue.getJobs([...names], 0, Number.isFinite(limit) ? limit - 1 : -1);
    // One that is taken away while it is listed leaves a gap.
    return jobs.filter(Boolean).map((one) => ({
      id: one.id ?? '',
      job: one.data.job,
      state: state as ListedJob['state'],
      attempts: one.attemptsMade,
      addedAt: one.timestamp,
      reason: one.failedReason || null,
    }));
  });
  return (await Promise.all(listed)).flat();
}

/** Answers the id of the job that will do the work: `id`, or that of an earlier one it was merged into. */
async function addTo(queue: BullQueue, id: string, job: Job, options: QueueOptions): Promise<string> {
  let hasBegun = false;
  for (let tries = 1; ; tries += 1) {
    const added = await queue.add(job.kind, { job }, await toJobOptions(queue, id, job, options));
    if (added.id === undefined || added.id === id) return id;
    // What is added while one runs is done after it.
    if (hasBegun || tries === MAX_MERGES) return added.id;
    // One that waits does the work, but of what was said last.
    const earlier = await queue.getJob(added.id);
    if (earlier && !(await earlier.isActive())) {
      const { cancelled: _, ...data } = earlier.data;
      await earlier.updateData({ ...data, job });
      if (WAITING.has(await earlier.getState())) return added.id;
    }
    // It has begun, perhaps without having heard of it.
    hasBegun = (await earlier?.isActive()) ?? false;
  }
}

const WAITING = new Set(['waiting', 'prioritized', 'delayed']);

async function toJobOptions(queue: BullQueue, id: string, job: Job, options: QueueOptions) {
  return {
    jobId: id,
    priority: priorityOf(job),
    attempts: options.attempts,
    backoff: { type: 'custom' },
    removeOnComplete: { age: options.keepFinishedMs / 1_000 },
    removeOnFail: { age: KEEP_FAILED_SECONDS },
    ...(await toDebounce(queue, job, options)),
  };
}

async function toDebounce(queue: BullQueue, job: Job, options: QueueOptions): Promise<JobsOptions> {
  const mergeKey = mergeKeyOf(job);
  if (mergeKey === null) return {};
  const earlierId = await queue.getDeduplicationJobId(mergeKey);
  const earlier = earlierId ? await queue.getJob(earlierId) : undefined;
  const latest = earlier ? earlier.timestamp + options.debounceMaxMs : Number.POSITIVE_INFINITY;
  return {
    delay: Math.max(0, Math.min(options.debounceMs, latest - Date.now())),
    deduplication: {
      id: mergeKey,
      keepLastIfActive: true,
      // One that is delayed because it failed or had no place keeps its own time.
      reschedule: !earlier || earlier.attemptsStarted === 0,
    },
  };
}
