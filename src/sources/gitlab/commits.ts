import { z } from 'zod';
import { cutText } from '../cut-text.ts';
import { toMovedNote } from './head-moved.ts';
import { PAGING, readList, toCutNote } from './read-list.ts';
import { defineTool, type Scope } from './scope.ts';

const MAX_MESSAGE = 2_000;

export function createListCommits(scope: Scope) {
  const { client, projectId, mrIid } = scope;
  return defineTool({
    name: 'gitlab_list_commits',
    description:
      "The merge request's own commits, newest first: sha, title, message, author, when committed, link. Which of them came between a passing and a failing pipeline narrows down the cause.",
    schema: z.strictObject({}),
    async read(_args, signal) {
      const list = await readList(
        client,
        // gitbeaker's type has no paging here, its request has.
        (api) => api.MergeRequests.allCommits(projectId, mrIid, { ...PAGING, showExpanded: false } as const),
        { schema: wireCommit, what: 'the commits' },
        signal,
      );
      const moved = toMovedNote(list.items[0]?.id, scope);
      const commits = list.items.map(fromCommit);
      return {
        kind: 'json',
        value: { ...(moved !== undefined && { moved }), commits, ...toCutNote(list, 'commits') },
      };
    },
  });
}

export const wireCommit = z.object({
  id: z.string(),
  title: z.string().nullish(),
  message: z.string().nullish(),
  author_name: z.string().nullish(),
  committed_date: z.string().nullish(),
  created_at: z.string().nullish(),
  parent_ids: z.array(z.string()).nullish(),
  web_url: z.string().nullish(),
});

export function fromCommit(commit: z.infer<typeof wireCommit>) {
  const message = (commit.message ?? '').trim();
  const title = commit.title ?? message.split('\n', 1).join('');
  return {
    sha: commit.id,
    title,
    ...(message !== title && { message: cutText(message, MAX_MESSAGE, 'the message') }),
    author: commit.author_name ?? null,
    committed: commit.committed_date ?? commit.created_at ?? null,
    ...((commit.parent_ids?.length ?? 0) > 1 && { is_merge: true }),
    web_url: commit.web_url ?? null,
  };
}
