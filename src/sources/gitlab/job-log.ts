import { z } from 'zod';
import { defineTool, type Scope } from './scope.ts';

export function createGetJobLog({ client, projectId }: Scope) {
  return defineTool({
    name: 'gitlab_get_job_log',
    description:
      "A job's whole log, raw: with colour codes and section marks. Logs are often large: fetch them into a file and search that. Line n is linked as <web_url of the job>#L<n>.",
    schema: z.strictObject({
      job_id: z.int().min(1).describe('From gitlab_list_jobs'),
    }),
    async read({ job_id }, signal) {
      const { body } = await client.stream(`projects/${projectId}/jobs/${job_id}/trace`, { signal });
      return { kind: 'text', of: 'log', body };
    },
  });
}
