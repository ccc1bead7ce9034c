import { z } from 'zod';
import { type Bridge, listBridges } from './bridges.ts';
import { fromTries, type WireJob, wireJob } from './job-tries.ts';
import { defineProjectTool } from './project-tool.ts';
import type { Scope } from './scope.ts';
import { fromWireList, PAGING, toCutNote } from './wire.ts';

export function createListJobs(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_list_jobs',
    description:
      "A pipeline's jobs, failed ones first: id, name, stage, status, allow_failure, failure_reason, duration in seconds, link. A job that was retried names its failed tries and whether it passed in the end. child_pipelines are the pipelines it started; list their jobs with their id.",
    schema: z.strictObject({
      pipeline_id: z.int().min(1).describe('From gitlab_list_pipelines or child_pipelines'),
      include_retried: z.boolean().optional().describe('Also the earlier tries of retried jobs'),
    }),
    async read({ pipeline_id, include_retried = false }, scope, signal) {
      const [wireJobs, bridges] = await Promise.all([
        listWireJobs(scope, pipeline_id, signal),
        listBridges(scope, pipeline_id, signal),
      ]);
      const jobs = fromTries(wireJobs).filter((job) => include_retried || !job.retried);
      return { kind: 'json', value: toAnswer(pipeline_id, jobs, bridges, wireJobs) };
    },
  });
}

/** Always with the earlier tries: GitLab does not mark them, they show only beside each other. */
async function listWireJobs({ client, projectId }: Scope, pipelineId: number, signal: AbortSignal) {
  const { api } = client.withSignal(signal);
  const answer = await api.Jobs.all(projectId, { ...PAGING, pipelineId, includeRetried: true });
  return fromWireList(wireJob, `the jobs of pipeline ${pipelineId}`, answer);
}

function toAnswer(
  pipeline_id: number,
  jobs: ReturnType<typeof fromTries>,
  child_pipelines: readonly Bridge[],
  wireJobs: readonly WireJob[],
) {
  const failed = jobs.filter((job) => job.status === 'failed' && !job.retried);
  return {
    pipeline_id,
    failed: failed.filter((job) => !job.allow_failure).length,
    failed_but_allowed: failed.filter((job) => job.allow_failure).length,
    total: jobs.length,
    jobs,
    child_pipelines,
    ...toCutNote(wireJobs, 'jobs, earlier tries counted,'),
  };
}
