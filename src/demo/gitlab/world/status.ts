import type { CiStatus, Job } from '../model.ts';

/** A pipeline's status, as GitLab makes it from the newest try of each of its jobs. */
export function combineStatuses(jobs: readonly Job[]): CiStatus {
  const counted = jobs.filter((job) => !job.retried);
  const any = (...statuses: CiStatus[]) => counted.some((job) => statuses.includes(job.status));
  const only = (...statuses: CiStatus[]) => counted.every((job) => statuses.includes(job.status));
  if (only('created')) return 'created';
  if (any('pending') && only('pending', 'created', 'skipped')) return 'pending';
  if (any('running', 'pending', 'created')) return 'running';
  if (counted.some((job) => job.status === 'failed' && !job.allowFailure)) return 'failed';
  if (any('manual')) return 'manual';
  if (any('canceled')) return 'canceled';
  return only('skipped') ? 'skipped' : 'success';
}

/** The times that go with a new status: started once it runs, finished once it is over. */
export function timesFor(
  status: CiStatus,
  at: Date,
  before: { startedAt: Date | null; finishedAt: Date | null },
): { startedAt: Date | null; finishedAt: Date | null } {
  if (status === 'running') return { startedAt: before.startedAt ?? at, finishedAt: null };
  if (status === 'success' || status === 'failed' || status === 'canceled') {
    return { startedAt: before.startedAt ?? at, finishedAt: at };
  }
  return { startedAt: before.startedAt, finishedAt: before.finishedAt };
}
