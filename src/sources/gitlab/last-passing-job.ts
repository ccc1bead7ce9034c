import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import { type CiLists, createCiLists } from './ci-lists.ts';
import { findJobsByName } from './jobs-by-name.ts';
import { openJobLog } from './open-job-log.ts';
import { type JobInQuestion, listRelatedPipelines, type RelatedPipeline } from './related-pipelines.ts';
import { defineTool, type Scope } from './scope.ts';

/** At most this many pipelines of the merge request, and as many of its target branch. */
const MAX_OF_EACH = 10;

export function createGetLastPassingJob(scope: Scope) {
  return defineTool({
    name: 'gitlab_get_last_passing_job',
    description:
      'The newest passing job of the same name, in this pipeline (another try), in earlier pipelines of the merge request or on its target branch: id, commit (sha), link. With log: true its whole log instead, to compare with the failing one; fetch both into files and diff them.',
    schema: z.strictObject({
      job_id: z.int().min(1).describe('The job that failed, from gitlab_list_jobs'),
      log: z.boolean().optional().describe("The passing job's log instead of what is known of the job"),
    }),
    async read({ job_id, log = false }, signal) {
      const search = await findLastPassingJob(scope, job_id, signal);
      if (!log) return { kind: 'json', value: toAnswer(search) };
      if (!search.passing) throw new NotFoundError(toWords(search));
      return { kind: 'text', of: 'log', body: await openJobLog(scope, search.passing.id, signal) };
    },
  });
}

export interface PassingJob {
  id: number;
  name: string;
  stage: string;
  webUrl: string;
  durationSeconds: number | null;
  finishedAt: string | null;
  pipelineId: number;
  /** What it ran on; a merged-results pipeline runs on a commit of its own. */
  sha: string;
  on: RelatedPipeline['on'];
  /** It passed with the very code that failed. */
  isSameCommit: boolean;
}

export interface PassingSearch {
  failed: JobInQuestion;
  passing: PassingJob | null;
  targetBranch: string;
  pipelinesRead: number;
  /** False: there were more pipelines or jobs than were looked at. */
  isWhole: boolean;
}

/** The newest one first, so that most searches end after a few requests. Its log: `openJobLog`. */
export async function findLastPassingJob(
  scope: Scope,
  jobId: number,
  signal: AbortSignal,
  { maxOfEach = MAX_OF_EACH, lists = createCiLists(scope) }: { maxOfEach?: number; lists?: CiLists } = {},
): Promise<PassingSearch> {
  const related = await listRelatedPipelines(scope, { jobId, maxOfEach, lists }, signal);
  const { job: failed, targetBranch, pipelines } = related;
  let { isWhole } = related;
  for (const [index, pipeline] of pipelines.entries()) {
    const wanted = { pipelineId: pipeline.id, name: failed.name, status: 'success' } as const;
    const found = await findJobsByName(lists, wanted, signal);
    isWhole &&= found.isWhole;
    const [newest] = found.tries.filter(({ id }) => id !== failed.id);
    if (!newest) continue;
    const passing: PassingJob = {
      id: newest.id,
      name: newest.name,
      stage: newest.stage,
      webUrl: newest.web_url,
      durationSeconds: newest.duration ?? null,
      finishedAt: newest.finished_at ?? null,
      pipelineId: pipeline.id,
      sha: pipeline.sha,
      on: pipeline.on,
      isSameCommit: pipeline.sha === failed.sha,
    };
    return { failed, passing, targetBranch, pipelinesRead: index + 1, isWhole };
  }
  return { failed, passing: null, targetBranch, pipelinesRead: pipelines.length, isWhole };
}

function toAnswer(search: PassingSearch) {
  const { failed, passing, targetBranch } = search;
  return {
    compared_with: { id: failed.id, name: failed.name, status: failed.status, sha: failed.sha },
    passing_job: passing && {
      id: passing.id,
      stage: passing.stage,
      duration: passing.durationSeconds,
      finished: passing.finishedAt,
      pipeline_id: passing.pipelineId,
      sha: passing.sha,
      on: passing.on === 'target_branch' ? `target branch ${targetBranch}` : 'merge request',
      same_commit: passing.isSameCommit,
      web_url: passing.webUrl,
    },
    ...(!passing && { note: toWords(search) }),
  };
}

function toWords({ failed, targetBranch, pipelinesRead, isWhole }: PassingSearch): string {
  const where = `the newest ${pipelinesRead} pipelines of the merge request and of ${targetBranch}`;
  const more = isWhole ? '' : '; older ones, or more of their jobs, were not looked at';
  return `No job ${JSON.stringify(failed.name)} has passed in ${where}${more}`;
}
