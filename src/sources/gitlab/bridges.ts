import type { z } from 'zod';
import { failedFirst } from './failed-first.ts';
import { wireJob } from './job-tries.ts';
import { fromPipeline, wirePipeline } from './pipelines.ts';
import { PAGING, readList, type WireList } from './read-list.ts';
import type { Scope } from './scope.ts';

export type Bridge = ReturnType<typeof fromBridge>;

/** The jobs of a pipeline that start other pipelines. */
export async function listBridges(
  { client, projectId }: Scope,
  pipelineId: number,
  signal: AbortSignal,
): Promise<WireList<Bridge>> {
  // gitbeaker's type has no paging here, its request has.
  const options = { ...PAGING, showExpanded: false } as const;
  const { items, isCut } = await readList(
    client,
    (api) => api.Jobs.allPipelineBridges(projectId, pipelineId, options),
    { schema: wireBridge, what: `the child pipelines of pipeline ${pipelineId}` },
    signal,
  );
  const bridges = items.map((bridge) => fromBridge(bridge, projectId)).toSorted(failedFirst);
  return { items: bridges, isCut };
}

const wireBridge = wireJob.extend({ downstream_pipeline: wirePipeline.nullish() });

function fromBridge(bridge: z.infer<typeof wireBridge>, projectId: number) {
  return {
    bridge: bridge.name,
    stage: bridge.stage,
    status: bridge.status,
    allow_failure: bridge.allow_failure,
    failure_reason: bridge.failure_reason ?? null,
    // Null: it was never started.
    pipeline: bridge.downstream_pipeline ? fromPipeline(bridge.downstream_pipeline, projectId) : null,
  };
}
