// Bringing pipelines and jobs into the world, before any hook tells of them.
import type { CiStatus, Job, MergeRequestRef, Pipeline, PipelineSource, TestCase } from '../model.ts';
import type { World } from '../state.ts';
import { commitBySha, headShaOf, mergeRequestByRef, projectById } from './find.ts';
import { timesFor } from './status.ts';

export type NewJob = {
  name: string;
  kind?: 'build' | 'bridge';
  stage?: string;
  status?: CiStatus;
  allowFailure?: boolean;
  failureReason?: string | null;
  trace?: string | Buffer;
};

export type NewPipeline = {
  /** The project that the merge request comes from unless told. */
  projectId?: number;
  /** Makes it a merge request pipeline unless `source` says otherwise. */
  mergeRequest?: MergeRequestRef;
  userId?: number | undefined;
  /** Taken from the merge request or the default branch unless told. */
  sha?: string;
  ref?: string | undefined;
  source?: PipelineSource;
  status?: CiStatus;
  /** Its configuration is wrong: it fails without any jobs. */
  yamlErrors?: string;
  jobs?: readonly NewJob[];
  /** Makes it the child pipeline that this bridge job started. */
  upstreamBridgeId?: number;
  testSuites?: readonly NewTestSuite[];
};

export type NewTestSuite = {
  name: string;
  /** Why GitLab could not read its report. */
  error?: string;
  cases: readonly (Pick<TestCase, 'name' | 'status'> & Partial<TestCase>)[];
};

export function createPipeline(world: World, input: NewPipeline): Pipeline {
  const mergeRequest = input.mergeRequest && mergeRequestByRef(world, input.mergeRequest);
  const project = projectById(world, input.projectId ?? mergeRequest?.sourceProjectId ?? 0);
  const source = input.source ?? (mergeRequest ? 'merge_request_event' : 'push');
  const headSha = mergeRequest ? headShaOf(mergeRequest) : undefined;
  const sha = input.sha ?? headSha ?? project.branches.get(project.defaultBranch) ?? '';
  commitBySha(world, sha);
  const forMergeRequest = source === 'merge_request_event' ? mergeRequest : undefined;
  const branch = mergeRequest?.sourceBranch ?? project.defaultBranch;
  const status = input.status ?? (input.yamlErrors ? 'failed' : 'pending');
  const at = world.now();
  const pipeline: Pipeline = {
    id: world.nextId('pipeline'),
    iid: [...world.pipelines.values()].filter((one) => one.projectId === project.id).length + 1,
    projectId: project.id,
    sha,
    headSha: (forMergeRequest && headSha) ?? sha,
    ref: input.ref ?? (forMergeRequest ? `refs/merge-requests/${forMergeRequest.iid}/head` : branch),
    source,
    status,
    yamlErrors: input.yamlErrors ?? null,
    userId: input.userId ?? mergeRequest?.authorId ?? somebody(world),
    mergeRequestId: forMergeRequest?.id ?? null,
    upstreamBridgeId: input.upstreamBridgeId ?? null,
    testSuites: [],
    createdAt: at,
    updatedAt: at,
    ...timesFor(status, at, NO_TIMES),
  };
  world.pipelines.set(pipeline.id, pipeline);
  return pipeline;
}

export function createJob(
  world: World,
  pipeline: Pipeline,
  input: Omit<NewJob, 'kind'> & Partial<Pick<Job, 'kind' | 'userId' | 'targetUrl' | 'description'>>,
): Job {
  const status = input.status ?? 'pending';
  const at = world.now();
  const job: Job = {
    id: world.nextId('job'),
    kind: input.kind ?? 'build',
    projectId: pipeline.projectId,
    pipelineId: pipeline.id,
    name: input.name,
    stage: input.stage ?? 'test',
    status,
    allowFailure: input.allowFailure ?? false,
    failureReason: input.failureReason ?? (status === 'failed' ? 'script_failure' : null),
    retried: false,
    userId: input.userId ?? pipeline.userId,
    targetUrl: input.targetUrl ?? null,
    description: input.description ?? null,
    downstreamPipelineId: null,
    createdAt: at,
    ...timesFor(status, at, NO_TIMES),
  };
  world.jobs.set(job.id, job);
  if (input.trace !== undefined) storeTrace(world, job, input.trace);
  return job;
}

/** Keeps the buffer itself: traces can be large. */
export function storeTrace(world: World, job: Job, trace: string | Buffer): void {
  world.traces.set(job.id, typeof trace === 'string' ? Buffer.from(trace) : trace);
}

const NO_TIMES = { startedAt: null, finishedAt: null };

function somebody(world: World): number {
  const user = world.users.values().next().value;
  if (user === undefined) throw new Error('A pipeline is run by somebody; add a user first.');
  return user.id;
}
