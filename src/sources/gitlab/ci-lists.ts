// Where a job is looked for: the same requests for all jobs of a merge request.
import type { z } from 'zod';
import { type WireJob, wireJob } from './job-tries.ts';
import { readTargetBranch } from './mr-details.ts';
import { wirePipeline } from './pipelines.ts';
import type { Scope } from './scope.ts';
import { shareAnswers } from './share-answers.ts';
import { fromWireList } from './wire.ts';

export interface CiLists {
  readTargetBranch: Read<'of the merge request', string>;
  listPipelines: Read<'of the merge request' | { ref: string; isChild: boolean }, WirePipeline[]>;
  /** Every try. Not whole: the pipeline has so many jobs that not all were read. */
  listJobs: Read<{ pipelineId: number; status?: 'success' }, { jobs: WireJob[]; isWhole: boolean }>;
}

type Read<Question, Answer> = (question: Question, signal: AbortSignal) => Promise<Answer>;

export type WirePipeline = z.infer<typeof wirePipeline>;

const FIRST_PAGE = { perPage: 100, maxPages: 1 } as const;
const MAX_JOB_PAGES = 3;

export function createCiLists(scope: Scope): CiLists {
  const { client, projectId, mrIid } = scope;
  return {
    readTargetBranch: (_, signal) => readTargetBranch(scope, signal),

    async listPipelines(question, signal) {
      const { api } = client.withSignal(signal);
      if (question === 'of the merge request') {
        const answer = await api.MergeRequests.allPipelines(projectId, mrIid, FIRST_PAGE);
        return fromWireList(wirePipeline, 'the pipelines', answer);
      }
      const { ref, isChild } = question;
      // GitLab leaves child pipelines out unless they are asked for.
      const options = { ...FIRST_PAGE, ref, ...(isChild && { source: 'parent_pipeline' }) };
      return fromWireList(
        wirePipeline,
        `the pipelines of ${ref}`,
        await api.Pipelines.all(projectId, options),
      );
    },

    async listJobs({ pipelineId, status }, signal) {
      const { api } = client.withSignal(signal);
      const answer = await api.Jobs.all(projectId, {
        pipelineId,
        includeRetried: true,
        perPage: FIRST_PAGE.perPage,
        maxPages: MAX_JOB_PAGES,
        ...(status && { scope: status }),
      });
      const jobs = fromWireList(wireJob, `the jobs of pipeline ${pipelineId}`, answer);
      return { jobs, isWhole: jobs.length < FIRST_PAGE.perPage * MAX_JOB_PAGES };
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
