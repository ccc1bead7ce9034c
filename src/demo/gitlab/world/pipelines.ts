import type { CiStatus, Job, Pipeline, TestSuite } from '../model.ts';
import { toJobHook } from '../payloads/job.ts';
import { toPipelineHook } from '../payloads/pipeline.ts';
import type { World } from '../state.ts';
import { jobById, jobsOf, pipelineById } from './find.ts';
import {
  createJob,
  createPipeline,
  type NewPipeline,
  type NewTestSuite,
  storeTrace,
} from './pipeline-records.ts';
import { combineStatuses, timesFor } from './status.ts';

/** The hook tells of the status that it is added with; earlier ones go unsaid. */
export function addPipeline(world: World, input: NewPipeline): Pipeline {
  const pipeline = createPipeline(world, input);
  const jobs = (input.jobs ?? []).map((job) => createJob(world, pipeline, job));
  pipeline.testSuites = (input.testSuites ?? []).map((suite) => toTestSuite(suite, jobs));
  if (input.upstreamBridgeId !== undefined) {
    jobById(world, input.upstreamBridgeId).downstreamPipelineId = pipeline.id;
  }
  if (input.status === undefined && jobs.length > 0) changeStatus(world, pipeline, combineStatuses(jobs));
  for (const job of jobs) announceJob(world, job);
  announcePipeline(world, pipeline);
  return pipeline;
}

export function setPipelineStatus(world: World, pipelineId: number, status: CiStatus): void {
  const pipeline = pipelineById(world, pipelineId);
  if (pipeline.status === status) return;
  changeStatus(world, pipeline, status);
  announcePipeline(world, pipeline);
}

/** The pipeline follows its jobs, as in GitLab. */
export function setJobStatus(
  world: World,
  jobId: number,
  status: CiStatus,
  options: { failureReason?: string } = {},
): void {
  const job = jobById(world, jobId);
  if (job.status === status) return;
  job.failureReason = status === 'failed' ? (options.failureReason ?? 'script_failure') : null;
  changeStatus(world, job, status);
  announceJob(world, job);
  followJobs(world, job.pipelineId);
}

/** The same job once more; the old try stays, marked as retried. */
export function retryJob(world: World, jobId: number): Job {
  const old = jobById(world, jobId);
  const { name, kind, stage, allowFailure } = old;
  if (kind === 'external') throw new Error(`Job ${jobId} is an external status; report it again instead.`);
  old.retried = true;
  const job = createJob(world, pipelineById(world, old.pipelineId), { name, kind, stage, allowFailure });
  announceJob(world, job);
  followJobs(world, job.pipelineId);
  return job;
}

export function setTrace(world: World, jobId: number, trace: string | Buffer): void {
  storeTrace(world, jobById(world, jobId), trace);
}

/** Gives the pipeline the status that its jobs add up to. */
export function followJobs(world: World, pipelineId: number): void {
  setPipelineStatus(world, pipelineId, combineStatuses(jobsOf(world, pipelineById(world, pipelineId))));
}

function changeStatus(world: World, thing: Pipeline | Job, status: CiStatus): void {
  thing.status = status;
  Object.assign(thing, timesFor(status, world.now(), thing));
  if ('updatedAt' in thing) thing.updatedAt = world.now();
}

function announcePipeline(world: World, pipeline: Pipeline): void {
  const payload = toPipelineHook(world, pipeline);
  world.announce({ projectId: pipeline.projectId, event: 'pipeline_events', payload });
}

function announceJob(world: World, job: Job): void {
  if (job.kind !== 'build') return;
  world.announce({ projectId: job.projectId, event: 'job_events', payload: toJobHook(world, job) });
}

function toTestSuite(suite: NewTestSuite, jobs: readonly Job[]): TestSuite {
  return {
    name: suite.name,
    error: suite.error ?? null,
    jobIds: jobs.filter((job) => job.name === suite.name).map((job) => job.id),
    cases: suite.cases.map((one) => ({
      classname: suite.name,
      seconds: 0,
      output: null,
      stackTrace: null,
      file: null,
      recentFailures: null,
      ...one,
    })),
  };
}
