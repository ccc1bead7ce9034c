import type { z } from 'zod';
import { failedFirst } from './failed-first.ts';
import { wireJob } from './job-tries.ts';
import { fromPipeline, wirePipeline } from './pipelines.ts';
import type { Scope } from './scope.ts';
import { fromWireList, PAGING } from './wire.ts';

export type Bridge = ReturnType<typeof fromBridge>;

/** The jobs of a pipeline that start other pipelines. */
export async function listBridges(
  { client, projectId }: Scope,
  pipelineId: number,
  signal: AbortSignal,
): Promise<Bridge[]> {
  const { api } = client.withSignal(signal);
  // gitbeaker's type has no paging here, its request has.
  const options = { ...PAGING, showExpanded: false } as const;
  const answer = await api.Jobs.allPipelineBridges(projectId, pipelineId, options);
  const bridges = fromWireList(wireBridge, `the child pipelines of pipeline ${pipelineId}`, answer);
  return bridges.map((bridge) => fromBridge(bridge, projectId)).toSorted(failedFirst);
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
