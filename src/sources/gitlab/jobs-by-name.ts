import { type WireJob, wireJob } from './job-tries.ts';
import type { Scope } from './scope.ts';
import { fromWireList } from './wire.ts';

export interface NamedJobs {
  /** Every try, newest first. */
  tries: WireJob[];
  /** False: the pipeline has so many jobs that not all were looked at. */
  isWhole: boolean;
}

const MAX_PAGES = 3;
const PER_PAGE = 100;

/** GitLab can not be asked for a name, so the pipeline's jobs are read, at most three requests. */
export async function findJobsByName(
  { client, projectId }: Scope,
  { pipelineId, name, status }: { pipelineId: number; name: string; status?: 'success' },
  signal: AbortSignal,
): Promise<NamedJobs> {
  const { api } = client.withSignal(signal);
  const answer = await api.Jobs.all(projectId, {
    pipelineId,
    includeRetried: true,
    perPage: PER_PAGE,
    maxPages: MAX_PAGES,
    ...(status && { scope: status }),
  });
  const jobs = fromWireList(wireJob, `the jobs of pipeline ${pipelineId}`, answer);
  return {
    tries: jobs.filter((job) => job.name === name).toSorted((a, b) => b.id - a.id),
    isWhole: jobs.length < PER_PAGE * MAX_PAGES,
  };
}
