import type { CiStatus, Job, Pipeline } from '../model.ts';
import type { World } from '../state.ts';
import { commitBySha, jobsOf, projectById } from './find.ts';
import { createJob, createPipeline, type NewPipeline } from './pipeline-records.ts';
import { followJobs } from './pipelines.ts';
import { timesFor } from './status.ts';

export type NewCommitStatus = {
  projectId: number;
  sha: string;
  name?: string | undefined;
  state: Extract<CiStatus, 'pending' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped'>;
  userId?: number | undefined;
  ref?: string | undefined;
  targetUrl?: string | undefined;
  description?: string | undefined;
};

/**
 * What a CI system outside of GitLab reports. It joins the commit's newest pipeline (of that ref, when one is
 * given) and, without any, becomes a new pipeline of source `external`.
 */
export function addCommitStatus(world: World, input: NewCommitStatus): Job {
  const pipeline = findPipeline(world, input) ?? createPipeline(world, toExternalPipeline(world, input));
  const status = updateStatus(world, pipeline, input) ?? appendStatus(world, pipeline, input);
  followJobs(world, pipeline.id);
  return status;
}

function findPipeline(world: World, input: NewCommitStatus): Pipeline | undefined {
  return [...world.pipelines.values()]
    .filter((one) => one.projectId === input.projectId && one.sha === input.sha)
    .findLast((one) => input.ref === undefined || one.ref === input.ref);
}

function toExternalPipeline(world: World, input: NewCommitStatus): NewPipeline {
  const { sha } = commitBySha(world, input.sha);
  const branches = [...projectById(world, input.projectId).branches];
  const ref = input.ref ?? branches.find(([, tip]) => tip === sha)?.[0];
  return {
    projectId: input.projectId,
    userId: input.userId,
    sha,
    ref,
    source: 'external',
    status: 'created',
  };
}

/** A status that is not over yet changes; one that is over stays and gets a successor. */
function updateStatus(world: World, pipeline: Pipeline, input: NewCommitStatus): Job | undefined {
  const open = jobsOf(world, pipeline).find(
    (job) => isNamed(job, input) && (job.status === 'pending' || job.status === 'running'),
  );
  if (open === undefined) return undefined;
  open.status = input.state;
  open.failureReason = reasonFor(input);
  open.targetUrl = input.targetUrl ?? open.targetUrl;
  open.description = input.description ?? open.description;
  return Object.assign(open, timesFor(input.state, world.now(), open));
}

function appendStatus(world: World, pipeline: Pipeline, input: NewCommitStatus): Job {
  for (const older of jobsOf(world, pipeline)) older.retried ||= isNamed(older, input);
  return createJob(world, pipeline, {
    kind: 'external',
    name: nameOf(input),
    stage: 'external',
    status: input.state,
    failureReason: reasonFor(input),
    userId: input.userId ?? pipeline.userId,
    targetUrl: input.targetUrl ?? null,
    description: input.description ?? null,
  });
}

function isNamed(job: Job, input: NewCommitStatus): boolean {
  return job.kind === 'external' && job.name === nameOf(input);
}

function nameOf(input: NewCommitStatus): string {
  return input.name ?? 'default';
}

function reasonFor(input: NewCommitStatus): string | null {
  return input.state === 'failed' ? 'api_failure' : null;
}
