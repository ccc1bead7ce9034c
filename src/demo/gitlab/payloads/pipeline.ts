import { mergeRequestLink, pipelineLink, projectLink } from '../links.ts';
import { mergeStatusOf } from '../merge-status.ts';
import type { Job, Pipeline } from '../model.ts';
import { secondsBetween } from '../seconds.ts';
import type { World } from '../state.ts';
import { commitBySha, jobById, jobsOf, mergeRequestById, projectById, userById } from '../world/find.ts';
import {
  type Part,
  toHookCommit,
  toHookProject,
  toHookRunner,
  toHookTime,
  toHookTimeOrNull,
  toHookUser,
} from './parts.ts';

/** Only builds are listed and only merge request pipelines name one: an external pipeline has neither. */
export function toPipelineHook(world: World, pipeline: Pipeline): Part {
  const project = projectById(world, pipeline.projectId);
  const jobs = jobsOf(world, pipeline).filter((job) => !job.retried);
  const builds = jobs.filter((job) => job.kind === 'build');
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: pipeline.id,
      iid: pipeline.iid,
      name: null,
      ref: toHookRef(world, pipeline),
      tag: false,
      sha: pipeline.sha,
      before_sha: commitBySha(world, pipeline.sha).parents[0] ?? '0'.repeat(40),
      source: pipeline.source,
      status: pipeline.status,
      detailed_status: pipeline.status === 'success' ? 'passed' : pipeline.status,
      stages: [...new Set(jobs.map((job) => job.stage))],
      created_at: toHookTime(pipeline.createdAt),
      finished_at: toHookTimeOrNull(pipeline.finishedAt),
      duration: secondsBetween(pipeline.startedAt, pipeline.finishedAt),
      queued_duration: secondsBetween(pipeline.createdAt, pipeline.startedAt),
      protected_ref: false,
      variables: [],
      url: pipelineLink(world, pipeline),
    },
    merge_request: toMergeRequestPart(world, pipeline),
    user: toHookUser(world, userById(world, pipeline.userId)),
    project: toHookProject(world, project),
    commit: toHookCommit(world, project, commitBySha(world, pipeline.sha)),
    builds: builds.map((job) => toBuildPart(world, job)),
    ...toUpstream(world, pipeline),
  };
}

/** The branch; the API shows a merge request pipeline's own ref instead. */
export function toHookRef(world: World, pipeline: Pipeline): string {
  if (pipeline.mergeRequestId === null) return pipeline.ref;
  return mergeRequestById(world, pipeline.mergeRequestId).sourceBranch;
}

/** Where a child pipeline came from; nothing for any other. */
export function toUpstream(world: World, pipeline: Pipeline): Part {
  if (pipeline.upstreamBridgeId === null) return {};
  const bridge = jobById(world, pipeline.upstreamBridgeId);
  const project = projectById(world, bridge.projectId);
  return {
    source_pipeline: {
      project: { id: project.id, web_url: projectLink(world, project), path_with_namespace: project.path },
      job_id: bridge.id,
      pipeline_id: bridge.pipelineId,
    },
  };
}

function toMergeRequestPart(world: World, pipeline: Pipeline): Part | null {
  if (pipeline.mergeRequestId === null) return null;
  const mergeRequest = mergeRequestById(world, pipeline.mergeRequestId);
  return {
    id: mergeRequest.id,
    iid: mergeRequest.iid,
    title: mergeRequest.title,
    source_branch: mergeRequest.sourceBranch,
    source_project_id: mergeRequest.sourceProjectId,
    target_branch: mergeRequest.targetBranch,
    target_project_id: mergeRequest.projectId,
    state: mergeRequest.state,
    merge_status: 'can_be_merged',
    detailed_merge_status: mergeStatusOf(mergeRequest),
    url: mergeRequestLink(world, mergeRequest),
  };
}

function toBuildPart(world: World, job: Job): Part {
  return {
    id: job.id,
    stage: job.stage,
    name: job.name,
    status: job.status,
    created_at: toHookTime(job.createdAt),
    started_at: toHookTimeOrNull(job.startedAt),
    finished_at: toHookTimeOrNull(job.finishedAt),
    duration: secondsBetween(job.startedAt, job.finishedAt),
    queued_duration: secondsBetween(job.createdAt, job.startedAt),
    failure_reason: job.failureReason,
    when: 'on_success',
    manual: job.status === 'manual',
    allow_failure: job.allowFailure,
    user: toHookUser(world, userById(world, job.userId)),
    runner: toHookRunner(job),
    artifacts_file: { filename: null, size: null },
    environment: null,
  };
}
