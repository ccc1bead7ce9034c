// Names of what happened, so that hearing of it twice, in whichever way, does not make it happen twice.
import type { AnalyzeJob, Job, ReplyJob } from './job.ts';

export function toEventKey(
  job: Pick<Job, 'kind' | 'project'>,
  ...happening: (string | number | null | undefined)[]
): string {
  return [job.kind, job.project.id, ...happening.map((part) => part ?? '')].join('/');
}

export function toReplyKey(job: Pick<ReplyJob, 'kind' | 'project' | 'noteId'>): string {
  return toEventKey(job, job.noteId);
}

/** A retried pipeline that fails again has the same id but other failed jobs or, by reports from outside, another end. */
export function toFailedPipelineKey(
  job: Pick<AnalyzeJob, 'kind' | 'project' | 'pipeline' | 'sha'>,
  { failedJobIds, finishedAt }: { failedJobIds: readonly number[]; finishedAt: string | null | undefined },
): string {
  const jobs = failedJobIds.toSorted((a, b) => a - b).join('+');
  const finished = Date.parse(finishedAt ?? '');
  const end = Number.isNaN(finished) ? '' : Math.floor(finished / 1_000);
  return toEventKey(job, job.pipeline.id, job.sha, end, jobs);
}
