import { z } from 'zod';
import { type Bridge, listBridges } from './bridges.ts';
import { fromTries, type WireJob, wireJob } from './job-tries.ts';
import { defineProjectTool } from './project-tool.ts';
import { PAGING, readList, toCutNote, type WireList } from './read-list.ts';
import type { Scope } from './scope.ts';

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
      const jobs = fromTries(wireJobs.items).filter((job) => include_retried || !job.retried);
      return { kind: 'json', value: toAnswer(pipeline_id, jobs, bridges, wireJobs) };
    },
  });
}

/** Always with the earlier tries: GitLab does not mark them, they show only beside each other. */
async function listWireJobs({ client, projectId }: Scope, pipelineId: number, signal: AbortSignal) {
  return readList(
    client,
    (api) => api.Jobs.all(projectId, { ...PAGING, pipelineId, includeRetried: true }),
    { schema: wireJob, what: `the jobs of pipeline ${pipelineId}` },
    signal,
  );
}

function toAnswer(
  pipeline_id: number,
  jobs: ReturnType<typeof fromTries>,
  bridges: WireList<Bridge>,
  wireJobs: WireList<WireJob>,
) {
  const failed = jobs.filter((job) => job.status === 'failed' && !job.retried);
  return {
    pipeline_id,
    failed: failed.filter((job) => !job.allow_failure).length,
    failed_but_allowed: failed.filter((job) => job.allow_failure).length,
    total: jobs.length,
    jobs,
    child_pipelines: bridges.items,
    ...(bridges.isCut && { child_pipelines_note: 'There are more child pipelines than were read.' }),
    ...toCutNote(wireJobs, 'jobs, earlier tries counted,'),
  };
}
