import { z } from 'zod';
import { defineProjectTool } from './project-tool.ts';
import { PAGING, readList, toCutNote } from './read-list.ts';
import { ref, repositoryPath, toRef } from './repository-args.ts';
import type { Scope } from './scope.ts';

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
      const at = toRef(scope, wanted);
      const options = {
        ...PAGING,
        // GitLab no longer counts pages here.
        pagination: 'keyset',
        ref: at,
        recursive,
        ...(path && { path: path.replace(/\/+$/, '') }),
      } as const;
      const list = await readList(
        scope.client,
        (api) => api.Repositories.allRepositoryTrees(scope.projectId, options),
        { schema: wireEntry, what: 'the directory' },
        signal,
      );
      return {
        kind: 'json',
        value: { ref: at, entries: list.items.map(fromEntry), ...toCutNote(list, 'entries') },
      };
    },
  });
}

const wireEntry = z.object({ path: z.string(), type: z.string() });

function fromEntry({ path, type }: z.infer<typeof wireEntry>): string {
  // A commit is a submodule.
  return type === 'tree' ? `${path}/` : type === 'commit' ? `${path} (submodule)` : path;
}
