import type { Readable } from 'node:stream';
import { z } from 'zod';
import { defineTool, type Scope } from './scope.ts';

export function createGetJobLog(scope: Scope) {
  return defineTool({
    name: 'gitlab_get_job_log',
    description:
      "A job's whole log, raw: with colour codes and section marks. Logs are often large: fetch them into a file and search that. Line n is linked as <web_url of the job>#L<n>.",
    schema: z.strictObject({
      job_id: z.int().min(1).describe('From gitlab_list_jobs'),
    }),
    async read({ job_id }, signal) {
      return { kind: 'text', of: 'log', body: await openJobLog(scope, job_id, signal) };
    },
  });
}

/** Raw, at the reader's pace. Read it to its end, or destroy it. */
export async function openJobLog(
  { client, projectId }: Scope,
  jobId: number,
  signal: AbortSignal,
): Promise<Readable> {
  const { body } = await client.stream(`projects/${projectId}/jobs/${jobId}/trace`, { signal });
  return body;
}
