import { pipelineLink } from '../links.ts';
import type { Pipeline } from '../model.ts';
import { secondsBetween } from '../seconds.ts';
import type { World } from '../state.ts';
import { commitBySha } from '../world/find.ts';
import { toUserOrNull } from './user.ts';

/** As lists and other answers show it. */
export function toPipelineBasic(world: World, pipeline: Pipeline) {
  return {
    id: pipeline.id,
    iid: pipeline.iid,
    project_id: pipeline.projectId,
    sha: pipeline.sha,
    ref: pipeline.ref,
    status: pipeline.status,
    source: pipeline.source,
    name: null,
    created_at: pipeline.createdAt.toISOString(),
    updated_at: pipeline.updatedAt.toISOString(),
    web_url: pipelineLink(world, pipeline),
  };
}

export function toPipeline(world: World, pipeline: Pipeline) {
  return {
    ...toPipelineBasic(world, pipeline),
    before_sha: commitBySha(world, pipeline.sha).parents[0] ?? '0'.repeat(40),
    tag: false,
    yaml_errors: pipeline.yamlErrors,
    user: toUserOrNull(world, pipeline.userId),
    started_at: pipeline.startedAt?.toISOString() ?? null,
    finished_at: pipeline.finishedAt?.toISOString() ?? null,
    committed_at: null,
    duration: secondsBetween(pipeline.startedAt, pipeline.finishedAt),
    queued_duration: secondsBetween(pipeline.createdAt, pipeline.startedAt),
    coverage: null,
    detailed_status: {
      icon: `status_${pipeline.status}`,
      text: pipeline.status,
      label: pipeline.status === 'success' ? 'passed' : pipeline.status,
      group: pipeline.status,
      tooltip: pipeline.status === 'success' ? 'passed' : pipeline.status,
      has_details: true,
      details_path: new URL(pipelineLink(world, pipeline)).pathname,
      illustration: null,
      favicon: `/assets/ci_favicons/favicon_status_${pipeline.status}.png`,
    },
    archived: false,
  };
}
