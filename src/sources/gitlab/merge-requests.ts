import type { GitlabClient } from '../../gitlab/client.ts';
import { openPageBudget } from '../../http/page-budget.ts';

export interface MergeRequest {
  projectId: number;
  iid: number;
  title: string;
  state: string;
  /** The head of its source branch, which is not the commit a merged-results pipeline ran on. */
  sha: string;
  webUrl: string;
  authorId: number;
  createdAt: string;
  /** Also of the commit that GitLab made of both branches; null if there is none, or a list did not tell. */
  headPipelineId: number | null;
}

/** What the job itself must read of a merge request, whatever the model asks for later. */
export interface MergeRequests {
  get(project: number | string, iid: number, signal: AbortSignal): Promise<MergeRequest>;
  /** Open merge requests that contain this commit. */
  findBySha(projectId: number, sha: string, signal: AbortSignal): Promise<MergeRequest[]>;
}

const MAX_PAGES = 10;

export function createMergeRequests(client: GitlabClient): MergeRequests {
  return {
    async get(project, iid, signal) {
      return fromWire(await client.withSignal(signal).api.MergeRequests.show(project, iid));
    },

    async findBySha(projectId, sha, signal) {
      const pages = { ...openPageBudget(MAX_PAGES), hasMore: false };
      const { api } = client.withSignal(signal, pages);
      const found = await api.Commits.allMergeRequests(projectId, sha, { perPage: 100 });
      return found.map(fromWire).filter((mr) => mr.state === 'opened');
    },
  };
}

interface WireMergeRequest {
  project_id: number;
  iid: number;
  title: string;
  state: string;
  sha: string;
  web_url: string;
  author: { id: number };
  created_at: string;
  head_pipeline?: { id: number } | null;
}

function fromWire(mr: WireMergeRequest): MergeRequest {
  return {
    projectId: mr.project_id,
    iid: mr.iid,
    title: mr.title,
    state: mr.state,
    sha: mr.sha,
    webUrl: mr.web_url,
    authorId: mr.author.id,
    createdAt: mr.created_at,
    headPipelineId: mr.head_pipeline?.id ?? null,
  };
}
