import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import type { GitlabClient } from '../../gitlab/client.ts';
import { fromWire, fromWireList, PAGING } from './wire.ts';

export interface FoundProject {
  id: number;
  path: string;
}

export interface Projects {
  /** What a pattern of the allowlist may mean: a project, a group's projects, or all that the token's user is a member of. */
  find(pattern: string, signal: AbortSignal): Promise<FoundProject[]>;
  /** Open merge requests that changed since then, or of which a pipeline failed. */
  listActive(project: FoundProject, since: Date, signal: AbortSignal): Promise<number[]>;
}

export function createProjects(client: GitlabClient): Projects {
  return {
    async find(pattern, signal) {
      const { api } = client.withSignal(signal);
      if (!pattern.includes('*'))
        return [fromProject(fromWire(wireProject, `project ${pattern}`, await api.Projects.show(pattern)))];
      const group = pattern.slice(0, pattern.indexOf('*')).replace(/\/[^/]*$/, '');
      const answer =
        group.includes('*') || !pattern.includes('/') || group === ''
          ? await api.Projects.all({ ...PAGING, membership: true, archived: false, simple: true })
          : await api.Groups.allProjects(group, { ...PAGING, includeSubgroups: true, archived: false });
      return fromWireList(wireProject, `the projects of ${pattern}`, answer).map(fromProject);
    },

    async listActive({ id, path }, since, signal) {
      const { api } = client.withSignal(signal);
      const updatedAfter = since.toISOString();
      const changed = fromWireList(
        wireMergeRequest,
        `the merge requests of ${path}`,
        await api.MergeRequests.all({ ...PAGING, projectId: id, state: 'opened', updatedAfter }),
      );
      // A pipeline's end does not always change its merge request.
      const failed = fromWireList(
        wirePipeline,
        `the failed pipelines of ${path}`,
        await api.Pipelines.all(id, { ...PAGING, status: 'failed', updatedAfter }),
      );
      const known = new Set(changed.map(({ sha }) => sha));
      const iids = new Set(changed.map(({ iid }) => iid));
      const others = new Set<string>();
      for (const { ref, sha } of failed) {
        const [, iid] = /^refs\/merge-requests\/(\d+)\//.exec(ref ?? '') ?? [];
        if (iid) iids.add(Number(iid));
        else if (!known.has(sha)) others.add(sha);
      }
      for (const sha of others)
        for (const iid of await listBySha(client.withSignal(signal), id, sha)) iids.add(iid);
      return [...iids].toSorted((a, b) => a - b);
    },
  };
}

async function listBySha({ api }: GitlabClient, projectId: number, sha: string): Promise<number[]> {
  try {
    const answer = await api.Commits.allMergeRequests(projectId, sha, PAGING);
    return fromWireList(wireMergeRequest, `the merge requests of ${sha}`, answer)
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
