import { z } from 'zod';
import type { PassingLog } from '../source.ts';
import { type CiLists, createSharedCiLists } from './ci-lists.ts';
import { findLastPassingJob } from './last-passing-job.ts';
import { openJobLog } from './open-job-log.ts';
import { defineProjectTool } from './project-tool.ts';
import type { Scope } from './scope.ts';

export function createGetJobLog(pinned: Scope) {
  // The logs of all failed jobs are often fetched together.
  const lists = createSharedCiLists(pinned);
  return defineProjectTool(pinned, {
    name: 'gitlab_get_job_log',
    description:
      "A job's whole log, raw: with colour codes and section marks. Logs are often large: fetch them into a file and search that. Line n is linked as <web_url of the job>#L<n>.",
    schema: z.strictObject({
      job_id: z.int().min(1).describe('From gitlab_list_jobs'),
    }),
    async read({ job_id }, scope, signal) {
      const body = await openJobLog(scope, job_id, signal);
      // Where it was looked for before, other projects are none of the merge request's.
      const isOwn = scope.projectId === pinned.projectId;
      const find = (signal: AbortSignal) =>
        isOwn ? findPassing({ ...pinned, lists }, job_id, signal) : Promise.resolve(null);
      return { kind: 'text', of: 'log', body, findPassing: find };
    },
  });
}

/** Asked for with every large log, so it does not look far. */
const MAX_PIPELINES = 3;

async function findPassing(
  scope: Scope & { lists: CiLists },
  jobId: number,
  signal: AbortSignal,
): Promise<PassingLog | null> {
  const where = { maxOfEach: MAX_PIPELINES, lists: scope.lists };
  const { failed, passing } = await findLastPassingJob(scope, jobId, signal, where);
  if (!passing || failed.status === 'success') return null;
  const on = passing.on === 'target_branch' ? 'on the target branch' : 'on the merge request';
  return {
    name: `job ${passing.id} of the same name, which passed ${on}`,
    body: await openJobLog(scope, passing.id, signal),
  };
}
