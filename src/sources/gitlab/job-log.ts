import type { Readable } from 'node:stream';
import { z } from 'zod';
import { defineProjectTool } from './project-tool.ts';
import type { Scope } from './scope.ts';

export function createGetJobLog(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_get_job_log',
    description:
      "A job's whole log, raw: with colour codes and section marks. Logs are often large: fetch them into a file and search that. Line n is linked as <web_url of the job>#L<n>.",
    schema: z.strictObject({
      job_id: z.int().min(1).describe('From gitlab_list_jobs'),
    }),
    async read({ job_id }, scope, signal) {
      return { kind: 'text', of: 'log', body: await openJobLog(scope, job_id, signal) };
    },
  });
}

/** Raw, at the reader's pace. Read it to its end, or destroy it. */
export async function openJobLog(
  { client, projectId }: Pick<Scope, 'client' | 'projectId'>,
  jobId: number,
  signal: AbortSignal,
): Promise<Readable> {
  const { body } = await client.stream(`projects/${projectId}/jobs/${jobId}/trace`, { signal });
  return body;
}
