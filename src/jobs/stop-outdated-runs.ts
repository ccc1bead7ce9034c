import type { Logger } from 'pino';
import { type MergeRequestChangedJob, toMergeKey } from '../queue/job.ts';
import type { JobQueue } from '../queue/queue.ts';
import type { Records } from '../records/records.ts';

const MAX_RUNS = 100;
const REASONS = {
  pushed: 'a new commit was pushed',
  closed: 'the merge request was closed',
  merged: 'the merge request was merged',
};

/** Nobody reads the analysis of a commit that was replaced; replies to people go on. */
export async function stopOutdatedRuns(
  { records, queue }: { records: Records; queue: JobQueue },
  job: MergeRequestChangedJob,
  log: Logger,
): Promise<void> {
  const { project, mrIid, change, sha } = job;
  const isOutdated = (other: string | null): boolean => change !== 'pushed' || other !== sha;

  const mr = { projectId: project.id, iid: mrIid };
  const running = await records.runs.list({ mr, state: 'running', limit: MAX_RUNS });
  const outdated = running
    .filter((run) => run.kind === 'analyze' && isOutdated(run.sha))
    .map((run) => run.jobId);

  const mergeKey = toMergeKey(project.id, mrIid);
  const waiting = await queue.waiting(mergeKey);
  // The commit of a merge result tells nothing of the head it was made from.
  const other = waiting?.job.kind === 'analyze' && !waiting.job.isMergeResult ? waiting.job.sha : sha;
  if (waiting && isOutdated(other)) outdated.push(waiting.id);

  for (const id of outdated)
    log.info({ stopped: id, outcome: await queue.cancel(id, REASONS[change]) }, 'run stopped');
}
