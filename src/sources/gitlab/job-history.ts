import { z } from 'zod';
import { type CiLists, createCiLists } from './ci-lists.ts';
import { findJobsByName, type NamedJobs } from './jobs-by-name.ts';
import { listRelatedPipelines, type Related, type RelatedPipeline } from './related-pipelines.ts';
import { defineTool, type Scope } from './scope.ts';

const DEFAULT_PIPELINES = 10;
const MAX_PIPELINES = 25;
/** The pipelines are independent of each other, but GitLab is not alone for us. */
const AT_ONCE = 4;

export function createGetJobHistory(scope: Scope) {
  return defineTool({
    name: 'gitlab_get_job_history',
    description:
      'The last results of the same job, newest first, in earlier pipelines of the merge request and on its target branch, every try: is it flaky, is the target branch broken, since when does it fail? same_commit_both_ways: true means that it passed and failed with the same code.',
    schema: z.strictObject({
      job_id: z.int().min(1).describe('From gitlab_list_jobs'),
      pipelines: z
        .int()
        .min(1)
        .max(MAX_PIPELINES)
        .optional()
        .describe(
          `How many of the merge request, and of the target branch; ${DEFAULT_PIPELINES} unless told`,
        ),
    }),
    async read({ job_id, pipelines: maxOfEach = DEFAULT_PIPELINES }, signal) {
      const lists = createCiLists(scope);
      const related = await listRelatedPipelines(scope, { jobId: job_id, maxOfEach, lists }, signal);
      const found = await findInAll(lists, related, signal);
      return { kind: 'json', value: toAnswer(related, found) };
    },
  });
}

type Found = NamedJobs & { pipeline: RelatedPipeline };

async function findInAll(lists: CiLists, { job, pipelines }: Related, signal: AbortSignal): Promise<Found[]> {
  const found: Found[] = [];
  for (let at = 0; at < pipelines.length; at += AT_ONCE) {
    const batch = pipelines.slice(at, at + AT_ONCE).map(async (pipeline) => {
      const wanted = { pipelineId: pipeline.id, name: job.name };
      return { ...(await findJobsByName(lists, wanted, signal)), pipeline };
    });
    found.push(...(await Promise.all(batch)));
  }
  return found;
}

function toAnswer({ job, targetBranch, isWhole }: Related, found: readonly Found[]) {
  const runs = found.flatMap(({ tries, pipeline }) =>
    tries.map((one) => ({
      id: one.id,
      status: one.status,
      failure_reason: one.failure_reason ?? null,
      duration: one.duration ?? null,
      finished: one.finished_at ?? null,
      on: pipeline.on,
      sha: pipeline.sha,
      pipeline_id: pipeline.id,
      web_url: one.web_url,
    })),
  );
  return {
    name: job.name,
    merge_request: toCounts(runs.filter(({ on }) => on === 'merge_request')),
    target_branch: { name: targetBranch, ...toCounts(runs.filter(({ on }) => on === 'target_branch')) },
    same_commit_both_ways: runs.some(
      (run) =>
        run.status === 'success' && runs.some((other) => other.status === 'failed' && other.sha === run.sha),
    ),
    runs,
    ...(!(isWhole && found.every((one) => one.isWhole)) && { note: CUT_NOTE }),
  };
}

function toCounts(runs: readonly { status: string }[]) {
  const count = (status: string) => runs.filter((run) => run.status === status).length;
  return { passed: count('success'), failed: count('failed'), total: runs.length };
}

const CUT_NOTE = 'There are older pipelines, or more jobs in these, that were not looked at.';
