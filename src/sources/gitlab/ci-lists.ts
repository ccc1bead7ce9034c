// Where a job is looked for: the same requests for all jobs of a merge request.
import type { z } from 'zod';
import type { GitlabClient } from '../../gitlab/client.ts';
import { type WireJob, wireJob } from './job-tries.ts';
import { readTargetBranch } from './mr-details.ts';
import { wirePipeline } from './pipelines.ts';
import { PAGING, readList } from './read-list.ts';
import type { Scope } from './scope.ts';
import { shareAnswers } from './share-answers.ts';

export interface CiLists {
  readTargetBranch: Read<'of the merge request', string>;
  listPipelines: Read<'of the merge request' | { ref: string; isChild: boolean }, Pipelines>;
  /** Every try. Not whole: the pipeline has so many jobs that not all were read. */
  listJobs: Read<{ pipelineId: number; status?: 'success' }, { jobs: WireJob[]; isWhole: boolean }>;
}

/** The newest. Not whole: there are older ones. */
export interface Pipelines {
  pipelines: WirePipeline[];
  isWhole: boolean;
}

type Read<Question, Answer> = (question: Question, signal: AbortSignal) => Promise<Answer>;

export type WirePipeline = z.infer<typeof wirePipeline>;

const MAX_JOB_PAGES = 3;

export function createCiLists(scope: Scope): CiLists {
  const { client, projectId, mrIid } = scope;
  return {
    readTargetBranch: (_, signal) => readTargetBranch(scope, signal),

    async listPipelines(question, signal) {
      const ask = (api: GitlabClient['api']): Promise<unknown> => {
        if (question === 'of the merge request')
          return api.MergeRequests.allPipelines(projectId, mrIid, PAGING);
        const { ref, isChild } = question;
        // GitLab leaves child pipelines out unless they are asked for.
        return api.Pipelines.all(projectId, {
          ...PAGING,
          ref,
          ...(isChild && { source: 'parent_pipeline' }),
        });
      };
      const wanted = { schema: wirePipeline, what: 'the pipelines', maxPages: 1 };
      const { items, isCut } = await readList(client, ask, wanted, signal);
      return { pipelines: items, isWhole: !isCut };
    },

    async listJobs({ pipelineId, status }, signal) {
      const options = { ...PAGING, pipelineId, includeRetried: true, ...(status && { scope: status }) };
      const { items, isCut } = await readList(
        client,
        (api) => api.Jobs.all(projectId, options),
        { schema: wireJob, what: `the jobs of pipeline ${pipelineId}`, maxPages: MAX_JOB_PAGES },
        signal,
      );
      return { jobs: items, isWhole: !isCut };
    },
  };
}

/** The same, for many jobs that are looked up at about the same time. */
export function createSharedCiLists(scope: Scope): CiLists {
  const lists = createCiLists(scope);
  return {
    readTargetBranch: shareAnswers(lists.readTargetBranch),
    listPipelines: shareAnswers(lists.listPipelines),
    listJobs: shareAnswers(lists.listJobs),
  };
}
