import { z } from 'zod';
import { fromPipeline, wirePipeline } from './pipelines.ts';
import { defineProjectTool } from './project-tool.ts';
import type { Scope } from './scope.ts';
import { fromWire } from './wire.ts';

export function createGetPipeline(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_get_pipeline',
    description:
      'One pipeline: status, source, ref, commit (sha), who started it, times, and yaml_errors: why it has no jobs when its configuration is wrong.',
    schema: z.strictObject({ pipeline_id: z.int().min(1).describe('From gitlab_list_pipelines') }),
    async read({ pipeline_id }, { client, projectId }, signal) {
      const answer = await client.withSignal(signal).api.Pipelines.show(projectId, pipeline_id);
      const pipeline = fromWire(wirePipelineDetails, `pipeline ${pipeline_id}`, answer);
      return { kind: 'json', value: { ...fromPipeline(pipeline, projectId), ...fromDetails(pipeline) } };
    },
  });
}

const wirePipelineDetails = wirePipeline.extend({
  yaml_errors: z.string().nullish(),
  user: z.object({ username: z.string() }).nullish(),
  started_at: z.string().nullish(),
  finished_at: z.string().nullish(),
  duration: z.number().nullish(),
  queued_duration: z.number().nullish(),
  detailed_status: z.object({ text: z.string().nullish(), label: z.string().nullish() }).nullish(),
});

function fromDetails(pipeline: z.infer<typeof wirePipelineDetails>) {
  return {
    ref: pipeline.ref ?? null,
    started_by: pipeline.user?.username ?? null,
    started: pipeline.started_at ?? null,
    finished: pipeline.finished_at ?? null,
    duration: pipeline.duration ?? null,
    queued_duration: pipeline.queued_duration ?? null,
    detailed_status: pipeline.detailed_status?.label ?? pipeline.detailed_status?.text ?? null,
    yaml_errors: pipeline.yaml_errors ?? null,
  };
}
