import { z } from 'zod';
import { limitBytes } from './limit-bytes.ts';
import { defineProjectTool } from './project-tool.ts';
import { repositoryPath } from './repository-args.ts';
import type { Scope } from './scope.ts';

const MAX_BYTES = 200 * 1024 * 1024;

export function createGetArtifactFile(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_get_artifact_file',
    description:
      "One file out of a job's archive of artifacts, whole. Fetch it into a file of the sandbox unless it is a small text.",
    schema: z.strictObject({
      job_id: z.int().min(1).describe('From gitlab_list_jobs'),
      path: repositoryPath.describe('From gitlab_list_artifacts'),
    }),
    async read({ job_id, path }, { client, projectId }, signal) {
      const encoded = path.split('/').map(encodeURIComponent).join('/');
      // GitLab unpacks it; nothing else of the archive is transferred.
      const { body } = await client.stream(`projects/${projectId}/jobs/${job_id}/artifacts/${encoded}`, {
        signal,
        mayBePage: /\.x?html?$/i.test(path),
      });
      return { kind: 'text', of: 'text', body: limitBytes(body, { maxBytes: MAX_BYTES, what: path }) };
    },
  });
}
