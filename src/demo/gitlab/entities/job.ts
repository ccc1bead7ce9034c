import { jobLink, projectLink } from '../links.ts';
import type { Job } from '../model.ts';
import { secondsBetween } from '../seconds.ts';
import type { World } from '../state.ts';
import { commitBySha, pipelineById, projectById, userById } from '../world/find.ts';
import { toCommit } from './commit.ts';
import { toPipelineBasic } from './pipeline.ts';
import { toUser, toUserOrNull } from './user.ts';

export function toJob(world: World, job: Job) {
  const archive = world.artifacts.get(job.id)?.archive;
  return {
    ...toJobBasic(world, job),
    ...(archive && { artifacts_file: { filename: 'artifacts.zip', size: archive.length } }),
    artifacts: listArtifacts(world, job),
    artifacts_expire_at: null,
    runner: null,
    runner_manager: null,
    tag_list: [],
  };
}

function listArtifacts(world: World, job: Job) {
  const trace = world.traces.get(job.id);
  const { archive, reports = [] } = world.artifacts.get(job.id) ?? {};
  return [
    ...(archive
      ? [
          { file_type: 'archive', size: archive.length, filename: 'artifacts.zip', file_format: 'zip' },
          { file_type: 'metadata', size: 186, filename: 'metadata.gz', file_format: 'gzip' },
        ]
      : []),
    ...(trace ? [{ file_type: 'trace', size: trace.length, filename: 'job.log', file_format: null }] : []),
    ...reports.map((type) => ({
      file_type: type,
      size: 750,
      filename: `${type}.xml.gz`,
      file_format: 'gzip',
    })),
  ];
}

/** A job that starts another pipeline. */
export function toBridge(world: World, job: Job) {
  const downstream = job.downstreamPipelineId;
  return {
    ...toJobBasic(world, job),
    downstream_pipeline: downstream === null ? null : toPipelineBasic(world, pipelineById(world, downstream)),
  };
}

/** A job or an external status, in the commit's list of both. */
export function toCommitStatus(world: World, job: Job) {
  const pipeline = pipelineById(world, job.pipelineId);
  return {
    id: job.id,
    sha: pipeline.sha,
    ref: pipeline.ref,
    status: job.status,
    name: job.name,
    target_url: job.targetUrl,
    description: job.description,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    finished_at: job.finishedAt?.toISOString() ?? null,
    allow_failure: job.allowFailure,
    coverage: null,
    pipeline_id: pipeline.id,
    author: toUserOrNull(world, job.userId),
  };
}

function toJobBasic(world: World, job: Job) {
  const pipeline = pipelineById(world, job.pipelineId);
  const project = projectById(world, job.projectId);
  return {
    id: job.id,
    status: job.status,
    stage: job.stage,
    name: job.name,
    ref: pipeline.ref,
    tag: false,
    coverage: null,
    allow_failure: job.allowFailure,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    finished_at: job.finishedAt?.toISOString() ?? null,
    erased_at: null,
    duration: secondsBetween(job.startedAt, job.finishedAt),
    queued_duration: secondsBetween(job.createdAt, job.startedAt),
    ...(job.failureReason === null ? {} : { failure_reason: job.failureReason }),
    user: toUser(world, userById(world, job.userId)),
    commit: toCommit(world, project, commitBySha(world, pipeline.sha)),
    pipeline: toPipelineBasic(world, pipeline),
    web_url: jobLink(world, job),
    project: { ci_job_token_scope_enabled: false, web_url: projectLink(world, project) },
    archived: false,
  };
}
