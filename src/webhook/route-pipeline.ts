import { toFailedPipelineKey } from '../queue/event-key.ts';
import type { ProjectRef } from '../queue/job.ts';
import type { PipelineHook } from './payloads.ts';
import { ignore, type RouteContext, type Routing, take } from './routing.ts';

export function routePipeline(hook: PipelineHook, context: RouteContext): Routing {
  const { object_attributes: pipeline, merge_request: mr } = hook;
  if (pipeline.status !== 'failed' && pipeline.status !== 'success')
    return ignore(`the pipeline is ${pipeline.status}, not failed`);
  if (pipeline.tag) return ignore('the pipeline of a tag belongs to no merge request');
  if (mr?.state && mr.state !== 'opened') return ignore(`merge request !${mr.iid} is ${mr.state}`);

  const failed = (hook.builds ?? []).filter((build) => build.status === 'failed');
  if (pipeline.status === 'failed' && failed.length > 0 && failed.every((build) => build.allow_failure))
    return ignore('only jobs that are allowed to fail have failed');

  const project = mr ? toTargetProject(hook, mr) : toRef(hook);
  if (!context.isAllowed(project))
    return ignore(`the target project ${project.path || project.id} is not in the configured projects`);

  const subject = {
    project,
    mrIid: mr?.iid ?? null,
    sha: pipeline.sha,
    isMergeResult: /^refs\/merge-requests\/\d+\/(?:merge|train)$/.test(pipeline.ref ?? ''),
    pipeline: { id: pipeline.id, projectId: hook.project.id },
  };
  if (pipeline.status === 'success')
    return take({ kind: 'pipeline-passed', ...subject }, pipeline.id, pipeline.sha, pipeline.finished_at);
  const job = { kind: 'analyze' as const, ...subject };
  const failedJobIds = failed.filter((build) => !build.allow_failure).map(({ id }) => id);
  const eventKey = toFailedPipelineKey(job, { failedJobIds, finishedAt: pipeline.finished_at });
  return { kind: 'job', job, eventKey };
}

function toRef(hook: PipelineHook): ProjectRef {
  return { id: hook.project.id, path: hook.project.path_with_namespace };
}

/** A pipeline that ran in a fork speaks of a merge request in another project, by id and URL only. */
function toTargetProject(hook: PipelineHook, mr: NonNullable<PipelineHook['merge_request']>): ProjectRef {
  if (mr.target_project_id === undefined || mr.target_project_id === hook.project.id) return toRef(hook);
  return { id: mr.target_project_id, path: mr.url ? toProjectPath(mr.url) : '' };
}

function toProjectPath(mrUrl: string): string {
  if (!URL.canParse(mrUrl)) return '';
  // Project paths are plain letters, so there is nothing to decode.
  const [path = ''] = new URL(mrUrl).pathname.split(/\/(?:-\/)?merge_requests\//);
  return path.slice(1);
}
