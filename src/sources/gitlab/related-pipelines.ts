// Where else a job has run: in earlier pipelines of the merge request, and on the branch it goes to.
import { z } from 'zod';
import { wireJob } from './job-tries.ts';
import { readTargetBranch } from './mr-details.ts';
import { wirePipeline } from './pipelines.ts';
import type { Scope } from './scope.ts';
import { fromWire, fromWireList } from './wire.ts';

/** The job that is compared with others. */
export interface JobInQuestion {
  id: number;
  name: string;
  status: string;
  pipelineId: number;
  sha: string;
}

export interface RelatedPipeline {
  id: number;
  sha: string;
  on: 'merge_request' | 'target_branch';
}

export interface Related {
  job: JobInQuestion;
  targetBranch: string;
  /** Newest first, the job's own pipeline among them. */
  pipelines: RelatedPipeline[];
  /** False: there are more. */
  isWhole: boolean;
}

/** At most `maxOfEach` pipelines of the merge request, none younger than the job's own, and of the target branch. */
export async function listRelatedPipelines(
  scope: Scope,
  { jobId, maxOfEach }: { jobId: number; maxOfEach: number },
  signal: AbortSignal,
): Promise<Related> {
  const [wire, targetBranch] = await Promise.all([
    readWireJob(scope, jobId, signal),
    readTargetBranch(scope, signal),
  ]);
  const [ofMergeRequest, ofTarget] = await Promise.all([
    listBeside(scope, wire, signal),
    listByRef(scope, { ref: targetBranch, isChild: isChild(wire) }, signal),
  ]);
  const earlier = ofMergeRequest.filter(({ id }) => id <= wire.pipeline.id);
  const groups = [pick(ofTarget, 'target_branch'), pick(earlier, 'merge_request')];
  // A pipeline may be in both; it counts as the merge request's.
  const pipelines = new Map(groups.flatMap((group) => group.slice(0, maxOfEach)).map((one) => [one.id, one]));
  return {
    job: fromWireJob(wire),
    targetBranch,
    pipelines: [...pipelines.values()].toSorted((a, b) => b.id - a.id),
    isWhole: groups.every((group) => group.length <= maxOfEach),
  };
}

/** Child pipelines are in no list of the merge request's; they have the ref of the pipeline that started them. */
async function listBeside({ client, projectId, mrIid }: Scope, job: WireJob, signal: AbortSignal) {
  const { id, ref } = job.pipeline;
  if (isChild(job) && ref) return listByRef({ client, projectId, mrIid }, { ref, isChild: true }, signal);
  const { api } = client.withSignal(signal);
  const answer = await api.MergeRequests.allPipelines(projectId, mrIid, FIRST_PAGE);
  const found = fromWireList(wirePipeline, 'the pipelines', answer);
  // A fork's pipelines are in the fork.
  return found.filter((one) => one.id === id || (one.project_id ?? projectId) === projectId);
}

async function listByRef(
  { client, projectId }: Scope,
  { ref, isChild }: { ref: string; isChild: boolean },
  signal: AbortSignal,
) {
  const { api } = client.withSignal(signal);
  // GitLab leaves child pipelines out unless they are asked for.
  const options = { ...FIRST_PAGE, ref, ...(isChild && { source: 'parent_pipeline' }) };
  const answer = await api.Pipelines.all(projectId, options);
  return fromWireList(wirePipeline, `the pipelines of ${ref}`, answer);
}

async function readWireJob({ client, projectId }: Scope, jobId: number, signal: AbortSignal) {
  const answer = await client.withSignal(signal).api.Jobs.show(projectId, jobId);
  return fromWire(wireJobInPipeline, `job ${jobId}`, answer);
}

const FIRST_PAGE = { perPage: 100, maxPages: 1 } as const;

const wireJobInPipeline = wireJob.extend({
  pipeline: z.object({
    id: z.number(),
    sha: z.string(),
    ref: z.string().nullish(),
    source: z.string().nullish(),
  }),
});

type WireJob = z.infer<typeof wireJobInPipeline>;

function isChild({ pipeline }: WireJob): boolean {
  return pipeline.source === 'parent_pipeline';
}

/** Those in which something has run, newest first. */
function pick(
  pipelines: readonly z.infer<typeof wirePipeline>[],
  on: RelatedPipeline['on'],
): RelatedPipeline[] {
  return pipelines
    .filter(({ source, status }) => source !== 'external' && status !== 'skipped')
    .toSorted((a, b) => b.id - a.id)
    .map(({ id, sha }) => ({ id, sha, on }));
}

function fromWireJob({ id, name, status, pipeline }: WireJob): JobInQuestion {
  return { id, name, status, pipelineId: pipeline.id, sha: pipeline.sha };
}
