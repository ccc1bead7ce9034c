import type { AnalyzeJob } from '../queue/job.ts';
import type { MergeRequest, MergeRequests } from '../sources/gitlab/merge-requests.ts';

/** The merge request that a pipeline belongs to. */
export async function findMergeRequest(
  { mergeRequests }: { mergeRequests: MergeRequests },
  job: Pick<AnalyzeJob, 'project' | 'mrIid' | 'sha'>,
  signal: AbortSignal,
): Promise<MergeRequest | null> {
  if (job.mrIid !== null) return mergeRequests.get(job.project.id, job.mrIid, signal);
  const found = await mergeRequests.findBySha(job.project.id, job.sha, signal);
  // The one whose newest commit this is; an older commit's failure is of interest only without one.
  return found.find((mr) => mr.sha === job.sha) ?? found[0] ?? null;
}
