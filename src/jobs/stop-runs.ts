import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Job, laneOf, type MergeRequestChangedJob, mergeKeyOf } from '../queue/job.ts';
import type { JobQueue, ListedJob } from '../queue/queue.ts';
import type { Records, Run } from '../records/records.ts';

export interface Stopping {
  records: Records;
  queue: JobQueue;
  now: () => number;
  log: Logger;
}

const MAX_RUNS = 100;
/** How long a run may take to end when it is told to. */
const ENDING_MS = 10_000;
const ENDING_POLL_MS = 200;
const REASONS = {
  pushed: 'a new commit was pushed',
  closed: 'the merge request was closed',
  merged: 'the merge request was merged',
};

/**
 * Nobody reads the analysis of a commit that was replaced; replies to people go on. An analysis that waits is left
 * alone: it may have heard of the new commit meanwhile, and finds out by itself when there is nothing to do.
 */
export async function stopOutdatedRuns(deps: Stopping, job: MergeRequestChangedJob): Promise<void> {
  const { project, mrIid, change, sha } = job;
  const running = await listRunning(deps, { projectId: project.id, iid: mrIid });
  for (const run of running) {
    // One that does not know its commit yet is about whichever is the newest when it looks.
    const isOutdated = change !== 'pushed' || (run.sha !== null && run.sha !== sha);
    if (run.kind !== 'analyze' || !isOutdated) continue;
    const outcome = await deps.queue.stopRunning(run.jobId, REASONS[change]);
    if (outcome === 'stopping') deps.log.info({ stopped: run.jobId, outcome }, 'run stopped');
  }
}

/** Everything that runs or waits for this merge request, also what failed while it ran. */
export async function stopAllRuns(
  deps: Stopping,
  mr: { projectId: number; iid: number; sha: string },
  { reason, signal }: { reason: string; signal: AbortSignal },
): Promise<number> {
  // Whose merge request was found by its commit tells it only here.
  const running = new Set((await listRunning(deps, mr)).map(({ jobId }) => jobId));
  const open = (await listOpen(deps)).filter(({ id, job }) => running.has(id) || isWorkFor(mr, job));
  const ids = new Set([...open.map(({ id }) => id), ...running]);
  for (const id of ids) await stopById(deps, id, reason);
  const deadline = performance.now() + ENDING_MS;
  while (performance.now() < deadline && (await listOpen(deps)).some(({ id }) => ids.has(id)))
    await sleep(ENDING_POLL_MS, undefined, { signal });
  // What is added while a job runs becomes one when that has ended.
  for (const key of new Set(open.flatMap(({ job }) => mergeKeyOf(job) ?? []))) {
    const next = await deps.queue.waiting(key);
    if (next) await stopById(deps, next.id, reason);
  }
  return ids.size;
}

function isWorkFor(mr: { projectId: number; iid: number; sha: string }, job: Job): boolean {
  if (laneOf(job) !== 'work' || job.project.id !== mr.projectId) return false;
  // A report from outside names a commit only.
  return job.mrIid === mr.iid || (job.kind === 'analyze' && job.mrIid === null && job.sha === mr.sha);
}

async function listOpen({ queue }: Stopping): Promise<ListedJob[]> {
  return (await queue.list()).filter(({ state }) => state !== 'failed');
}

function listRunning({ records }: Stopping, mr: { projectId: number; iid: number }): Promise<Run[]> {
  return records.runs.list({ mr, state: 'running', limit: MAX_RUNS });
}

/** A job, by its id, and the record of its run. */
export async function stopById(
  { queue, records, log, now }: Stopping,
  id: string,
  reason: string,
): Promise<Awaited<ReturnType<JobQueue['cancel']>>> {
  const outcome = await queue.cancel(id, reason);
  if (outcome === 'not-found') log.debug({ job: id }, 'no job to stop');
  else log.info({ stopped: id, outcome }, 'run stopped');
  if (outcome === 'stopping') return outcome;
  // It waited for another try, so nobody is there to end its record.
  const run = await records.runs.get(id);
  if (run?.state === 'running')
    await records.runs.save({ ...run, state: 'ended', ending: 'cancelled', reason, endedAt: now() });
  return outcome;
}
