import { z } from 'zod';
import { defineProjectTool } from './project-tool.ts';
import { ref, repositoryPath, toRef } from './repository-args.ts';
import type { Scope } from './scope.ts';
import { fromWireList, PAGING, toCutNote } from './wire.ts';

export function createListDirectory(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_list_directory',
    description:
      'Files and folders of the repository at a commit: paths, folders with a slash at the end. With recursive: true all that is below; a whole repository is large, so give a path.',
    schema: z.strictObject({
      path: repositoryPath.optional().describe('A folder; the top of the repository unless told'),
      ref,
      recursive: z.boolean().optional(),
    }),
    async read({ path, ref: wanted, recursive = false }, scope, signal) {
      const at = await toRef(scope, wanted, signal);
      const { api } = scope.client.withSignal(signal);
      const answer = await api.Repositories.allRepositoryTrees(scope.projectId, {
        ...PAGING,
        // GitLab no longer counts pages here.
        pagination: 'keyset',
        ref: at,
        recursive,
        ...(path && { path: path.replace(/\/+$/, '') }),
      });
      const entries = fromWireList(wireEntry, 'the directory', answer);
      return {
        kind: 'json',
        value: { ref: at, entries: entries.map(fromEntry), ...toCutNote(entries, 'entries') },
      };
    },
  });
}

const wireEntry = z.object({ path: z.string(), type: z.string() });

function fromEntry({ path, type }: z.infer<typeof wireEntry>): string {
  // A commit is a submodule.
  return type === 'tree' ? `${path}/` : type === 'commit' ? `${path} (submodule)` : path;
}
