import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import type { GitlabClient } from '../../gitlab/client.ts';
import { PAGING, readList, type WireList } from './read-list.ts';
import { fromWire } from './wire.ts';

export interface FoundProject {
  id: number;
  path: string;
}

export interface Projects {
  /** What a pattern of the allowlist may mean: a project, a group's projects, or all that the token's user is a member of. */
  find(pattern: string, signal: AbortSignal): Promise<WireList<FoundProject>>;
  /** Open merge requests that changed since then, or of which a pipeline failed. */
  listActive(project: FoundProject, since: Date, signal: AbortSignal): Promise<WireList<number>>;
}

/** Whoever looks for what was missed has to look everywhere. */
const MAX_PAGES = 100;
/** Whose merge requests only GitLab knows, a request for each. */
const MAX_COMMITS = 500;

export function createProjects(client: GitlabClient): Projects {
  return {
    async find(pattern, signal) {
      if (!pattern.includes('*')) {
        const answer = await client.withSignal(signal).api.Projects.show(pattern);
        return { items: [fromProject(fromWire(wireProject, `project ${pattern}`, answer))], isCut: false };
      }
      const group = pattern.slice(0, pattern.indexOf('*')).replace(/\/[^/]*$/, '');
      const ask = ({ Projects, Groups }: GitlabClient['api']): Promise<unknown> =>
        group.includes('*') || !pattern.includes('/') || group === ''
          ? Projects.all({ ...PAGING, membership: true, archived: false, simple: true })
          : Groups.allProjects(group, { ...PAGING, includeSubgroups: true, archived: false });
      const wanted = { schema: wireProject, what: `the projects of ${pattern}`, maxPages: MAX_PAGES };
      const { items, isCut } = await readList(client, ask, wanted, signal);
      return { items: items.map(fromProject), isCut };
    },

    async listActive({ id, path }, since, signal) {
      const updatedAfter = since.toISOString();
      const changed = await readList(
        client,
        (api) => api.MergeRequests.all({ ...PAGING, projectId: id, state: 'opened', updatedAfter }),
        { schema: wireMergeRequest, what: `the merge requests of ${path}`, maxPages: MAX_PAGES },
        signal,
      );
      // A pipeline's end does not always change its merge request.
      const failed = await readList(
        client,
        (api) => api.Pipelines.all(id, { ...PAGING, status: 'failed', updatedAfter }),
        { schema: wirePipeline, what: `the failed pipelines of ${path}`, maxPages: MAX_PAGES },
        signal,
      );
      const known = new Set(changed.items.map(({ sha }) => sha));
      const iids = new Set(changed.items.map(({ iid }) => iid));
      const others = new Set<string>();
      for (const { ref, sha } of failed.items) {
        const [, iid] = /^refs\/merge-requests\/(\d+)\//.exec(ref ?? '') ?? [];
        if (iid) iids.add(Number(iid));
        else if (!known.has(sha)) others.add(sha);
      }
      const looked = [...others].slice(0, MAX_COMMITS);
      for (const sha of looked) for (const iid of await listBySha(client, { id, sha }, signal)) iids.add(iid);
      return {
        items: [...iids].toSorted((a, b) => a - b),
        isCut: changed.isCut || failed.isCut || looked.length < others.size,
      };
    },
  };
}

async function listBySha(
  client: GitlabClient,
  { id, sha }: { id: number; sha: string },
  signal: AbortSignal,
): Promise<number[]> {
  try {
    const ask = ({ Commits }: GitlabClient['api']) => Commits.allMergeRequests(id, sha, PAGING);
    const wanted = { schema: wireMergeRequest, what: `the merge requests of ${sha}` };
    return (await readList(client, ask, wanted, signal)).items
      .filter(({ state }) => state === 'opened')
      .map(({ iid }) => iid);
  } catch (error) {
    // The commit is gone with its branch.
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

const wireProject = z.object({ id: z.number(), path_with_namespace: z.string() });
const wireMergeRequest = z.object({ iid: z.number(), sha: z.string().nullish(), state: z.string() });
const wirePipeline = z.object({ ref: z.string().nullish(), sha: z.string() });

function fromProject(wire: z.infer<typeof wireProject>): FoundProject {
  return { id: wire.id, path: wire.path_with_namespace };
}
