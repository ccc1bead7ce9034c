import { z } from 'zod';
import { cutText } from '../cut-text.ts';
import { toMovedNote } from './head-moved.ts';
import { defineTool, type Scope } from './scope.ts';
import { fromWire } from './wire.ts';

const MAX_DESCRIPTION = 4_000;

export function createGetMrDetails(scope: Scope) {
  const { client, projectId, mrIid } = scope;
  return defineTool({
    name: 'gitlab_get_mr_details',
    description:
      'The merge request this job is about: title, description, state, author, branches, commit of this job (sha) and, if it is another by now, of the head (head_sha), labels, draft, head pipeline, number of changed files, link.',
    schema: z.strictObject({}),
    async read(_args, signal) {
      const answer = await client.withSignal(signal).api.MergeRequests.show(projectId, mrIid);
      return {
        kind: 'json',
        value: fromMergeRequest(fromWire(wireMergeRequest, 'the merge request', answer), scope),
      };
    },
  });
}

export async function readTargetBranch(scope: Scope, signal: AbortSignal): Promise<string> {
  const { client, projectId, mrIid } = scope;
  const answer = await client.withSignal(signal).api.MergeRequests.show(projectId, mrIid);
  return fromWire(wireMergeRequest.pick({ target_branch: true }), 'the merge request', answer).target_branch;
}

const wireMergeRequest = z.object({
  iid: z.number(),
  title: z.string(),
  description: z.string().nullish(),
  state: z.string(),
  author: z.object({ username: z.string(), name: z.string() }).nullish(),
  source_branch: z.string(),
  target_branch: z.string(),
  source_project_id: z.number().nullish(),
  project_id: z.number(),
  // Null before the first commit.
  sha: z.string().nullish(),
  labels: z.array(z.string()),
  draft: z.boolean().nullish(),
  head_pipeline: z
    .object({ id: z.number(), status: z.string(), sha: z.string(), web_url: z.string().nullish() })
    .nullish(),
  // A text, because GitLab stops counting: "1000+".
  changes_count: z.string().nullish(),
  web_url: z.string(),
});

function fromMergeRequest(mr: z.infer<typeof wireMergeRequest>, scope: Scope) {
  const moved = toMovedNote(mr.sha, scope);
  return {
    iid: mr.iid,
    title: mr.title,
    description: cutText(mr.description ?? '', MAX_DESCRIPTION, 'the description'),
    state: mr.state,
    author: mr.author ? `${mr.author.name} (${mr.author.username})` : null,
    source_branch: mr.source_branch,
    target_branch: mr.target_branch,
    from_fork: mr.source_project_id !== mr.project_id,
    sha: scope.sha || null,
    ...(moved !== undefined && { head_sha: mr.sha, note: moved }),
    labels: mr.labels,
    draft: mr.draft ?? false,
    head_pipeline: mr.head_pipeline ?? null,
    changed_files: mr.changes_count ?? null,
    web_url: mr.web_url,
  };
}
