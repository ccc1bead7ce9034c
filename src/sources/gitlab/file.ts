import { z } from 'zod';
import { cutBody } from '../../http/bounded-body.ts';
import { defineProjectTool } from './project-tool.ts';
import { ref, repositoryPath, toRef } from './repository-args.ts';
import type { Scope } from './scope.ts';

const MAX_FILE_BYTES = 64 * 1024 * 1024;

export function createGetFile(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_get_file',
    description:
      'A file of the repository as it is at a commit, whole. To see a test, a Dockerfile or a configuration that the diff does not show.',
    schema: z.strictObject({
      path: repositoryPath.describe('As in the repository: src/app.ts'),
      ref,
    }),
    async read({ path, ref: wanted }, scope, signal) {
      const { client, projectId } = scope;
      const answer = await client.stream(
        `projects/${projectId}/repository/files/${encodeURIComponent(path)}/raw`,
        { signal, searchParams: { ref: toRef(scope, wanted) } },
      );
      return { kind: 'text', of: 'text', body: cutBody(answer, MAX_FILE_BYTES, path) };
    },
  });
}
