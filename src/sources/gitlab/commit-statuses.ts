import { z } from 'zod';
import { failedFirst } from './failed-first.ts';
import { shaOf } from './head-moved.ts';
import { PAGING, readList, toCutNote, type WireList } from './read-list.ts';
import { defineTool, type Scope } from './scope.ts';

export function createListCommitStatuses(scope: Scope) {
  return defineTool({
    name: 'gitlab_list_commit_statuses',
    description:
      "What systems outside of GitLab (Konflux, other CI) reported for a commit, failed ones first: name, status, description, target_url. GitLab's own jobs are only counted here, and those that failed named.",
    schema: z.strictObject({
      sha: z
        .string()
        .regex(/^[0-9a-f]{7,64}$/i)
        .optional()
        .describe('A commit; the one of this job unless told'),
    }),
    async read({ sha: wanted }, signal) {
      const sha = wanted ?? shaOf(scope);
      return { kind: 'json', value: toAnswer(sha, await listStatuses(scope, sha, signal)) };
    },
  });
}

const wireStatus = z.object({
  id: z.number(),
  name: z.string(),
  status: z.string(),
  description: z.string().nullish(),
  target_url: z.string().nullish(),
  allow_failure: z.boolean().nullish(),
  pipeline_id: z.number().nullish(),
});

type WireStatus = z.infer<typeof wireStatus>;

/** Their links and descriptions, for whoever looks for something in them. */
export async function readStatuses(scope: Scope, signal: AbortSignal): Promise<string[]> {
  const { items } = await listStatuses(scope, shaOf(scope), signal);
  return items.map(({ target_url, description }) => `${target_url ?? ''} ${description ?? ''}`);
}

async function listStatuses({ client, projectId }: Scope, sha: string, signal: AbortSignal) {
  return readList(
    client,
    // gitbeaker's type has no paging here, its request has.
    (api) => api.Commits.allStatuses(projectId, sha, { ...PAGING, showExpanded: false } as const),
    { schema: wireStatus, what: 'the commit statuses' },
    signal,
  );
}

function toAnswer(sha: string, list: WireList<WireStatus>) {
  const { items: statuses } = list;
  const external = statuses.filter((status) => !isGitlabJob(status));
  const jobs = statuses.filter(isGitlabJob);
  return {
    sha,
    external: external.map(fromStatus).toSorted(failedFirst),
    gitlab_jobs: jobs.length,
    failed_gitlab_jobs: jobs
      .filter(({ status }) => status === 'failed')
      .map(({ id, name }) => ({ id, name })),
    ...toCutNote(list, 'statuses'),
  };
}

/** The list has both and does not say which is which; only a system outside describes or links elsewhere. */
function isGitlabJob({ id, description, target_url }: WireStatus): boolean {
  if (description) return false;
  return !target_url || new RegExp(`/(?:-/jobs|builds)/${id}$`).test(target_url);
}

function fromStatus(status: WireStatus) {
  return {
    name: status.name,
    status: status.status,
    description: status.description ?? null,
    target_url: status.target_url ?? null,
    allow_failure: status.allow_failure ?? false,
    pipeline_id: status.pipeline_id ?? null,
  };
}
