import type { Job, Pipeline } from '../model.ts';
import { secondsBetween } from '../seconds.ts';
import type { World } from '../state.ts';
import { commitBySha, jobsOf, pipelineById, projectById, userById } from '../world/find.ts';
import {
  type Part,
  toHookProject,
  toHookRepository,
  toHookRunner,
  toHookTime,
  toHookTimeOrNull,
  toHookUser,
} from './parts.ts';
import { toHookRef, toUpstream } from './pipeline.ts';

/** GitLab calls it a build here, and what it calls the commit is the pipeline. */
export function toJobHook(world: World, job: Job): Part {
  const pipeline = pipelineById(world, job.pipelineId);
  const project = projectById(world, job.projectId);
  const hookProject = toHookProject(world, project);
  const parent = commitBySha(world, pipeline.sha).parents[0];
  return {
    object_kind: 'build',
    ref: toHookRef(world, pipeline),
    tag: false,
    before_sha: parent ?? '0'.repeat(40),
    sha: pipeline.sha,
    build_id: job.id,
    build_name: job.name,
    build_stage: job.stage,
    build_status: job.status,
    build_created_at: toHookTime(job.createdAt),
    build_started_at: toHookTimeOrNull(job.startedAt),
    build_finished_at: toHookTimeOrNull(job.finishedAt),
    build_duration: secondsBetween(job.startedAt, job.finishedAt),
    build_queued_duration: secondsBetween(job.createdAt, job.startedAt),
    build_allow_failure: job.allowFailure,
    build_failure_reason: job.failureReason ?? 'unknown_failure',
    retries_count: retriesBefore(world, pipeline, job),
    pipeline_id: pipeline.id,
    project_id: project.id,
    project_name: project.path.split('/').join(' / '),
    user: toHookUser(world, userById(world, job.userId)),
    commit: toPipelineAsCommit(world, pipeline),
    repository: {
      ...toHookRepository(world, project),
      git_http_url: hookProject.git_http_url,
      git_ssh_url: hookProject.git_ssh_url,
      visibility_level: hookProject.visibility_level,
    },
    project: hookProject,
    runner: toHookRunner(job),
    environment: null,
    ...toUpstream(world, pipeline),
  };
}

function toPipelineAsCommit(world: World, pipeline: Pipeline): Part {
  const commit = commitBySha(world, pipeline.sha);
  return {
    id: pipeline.id,
    name: null,
    sha: pipeline.sha,
    message: commit.message,
    author_name: commit.authorName,
    author_email: commit.authorEmail,
    author_url: `mailto:${commit.authorEmail}`,
    status: pipeline.status,
    duration: secondsBetween(pipeline.startedAt, pipeline.finishedAt),
    started_at: toHookTimeOrNull(pipeline.startedAt),
    finished_at: toHookTimeOrNull(pipeline.finishedAt),
  };
}

function retriesBefore(world: World, pipeline: Pipeline, job: Job): number {
  return jobsOf(world, pipeline).filter((one) => one.retried && one.name === job.name).length;
}
