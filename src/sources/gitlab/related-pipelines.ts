// Where else a job has run: in earlier pipelines of the merge request, and on the branch it goes to.
import { z } from 'zod';
import type { CiLists, Pipelines, WirePipeline } from './ci-lists.ts';
import { wireJob } from './job-tries.ts';
import type { Scope } from './scope.ts';
import { fromWire } from './wire.ts';

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
  { jobId, maxOfEach, lists }: { jobId: number; maxOfEach: number; lists: CiLists },
  signal: AbortSignal,
): Promise<Related> {
  const [wire, targetBranch] = await Promise.all([
    readWireJob(scope, jobId, signal),
    lists.readTargetBranch('of the merge request', signal),
  ]);
  const [ofMergeRequest, ofTarget] = await Promise.all([
    listBeside(scope, wire, { lists, signal }),
    lists.listPipelines({ ref: targetBranch, isChild: isChild(wire) }, signal),
  ]);
  const earlier = ofMergeRequest.pipelines.filter(({ id }) => id <= wire.pipeline.id);
  const groups = [pick(ofTarget.pipelines, 'target_branch'), pick(earlier, 'merge_request')];
  // A pipeline may be in both; it counts as the merge request's.
  const pipelines = new Map(groups.flatMap((group) => group.slice(0, maxOfEach)).map((one) => [one.id, one]));
  return {
    job: fromWireJob(wire),
    targetBranch,
    pipelines: [...pipelines.values()].toSorted((a, b) => b.id - a.id),
    // Reports from outside are pipelines too, and may be all that was read.
    isWhole: ofTarget.isWhole && ofMergeRequest.isWhole && groups.every(({ length }) => length <= maxOfEach),
  };
}

/** Child pipelines are in no list of the merge request's; they have the ref of the pipeline that started them. */
async function listBeside(
  { projectId }: Scope,
  job: WireJob,
  { lists, signal }: { lists: CiLists; signal: AbortSignal },
): Promise<Pipelines> {
  const { id, ref } = job.pipeline;
  if (isChild(job) && ref) return lists.listPipelines({ ref, isChild: true }, signal);
  const { pipelines, isWhole } = await lists.listPipelines('of the merge request', signal);
  // A fork's pipelines are in the fork.
  const own = pipelines.filter((one) => one.id === id || (one.project_id ?? projectId) === projectId);
  return { pipelines: own, isWhole };
}

async function readWireJob({ client, projectId }: Scope, jobId: number, signal: AbortSignal) {
  const answer = await client.withSignal(signal).api.Jobs.show(projectId, jobId);
  return fromWire(wireJobInPipeline, `job ${jobId}`, answer);
}

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
function pick(pipelines: readonly WirePipeline[], on: RelatedPipeline['on']): RelatedPipeline[] {
  return pipelines
    .filter(({ source, status }) => source !== 'external' && status !== 'skipped')
    .toSorted((a, b) => b.id - a.id)
    .map(({ id, sha }) => ({ id, sha, on }));
}

function fromWireJob({ id, name, status, pipeline }: WireJob): JobInQuestion {
  return { id, name, status, pipelineId: pipeline.id, sha: pipeline.sha };
}
