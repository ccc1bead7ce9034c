import type { CiLists } from './ci-lists.ts';
import type { WireJob } from './job-tries.ts';

export interface NamedJobs {
  /** Every try, newest first. */
  tries: WireJob[];
  /** False: the pipeline has so many jobs that not all were looked at. */
  isWhole: boolean;
}

/** GitLab can not be asked for a name, so the pipeline's jobs are read. */
export async function findJobsByName(
  { listJobs }: CiLists,
  { name, ...where }: { pipelineId: number; name: string; status?: 'success' },
  signal: AbortSignal,
): Promise<NamedJobs> {
  const { jobs, isWhole } = await listJobs(where, signal);
  return { tries: jobs.filter((job) => job.name === name).toSorted((a, b) => b.id - a.id), isWhole };
}
