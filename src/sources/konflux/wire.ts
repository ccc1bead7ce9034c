// Kubernetes objects as they are sent. Older and archived ones lack much, so little is required of them.
import { z } from 'zod';

const texts = z.record(z.string(), z.string()).nullish();

export const wireMetadata = z.object({
  name: z.string(),
  uid: z.string().nullish(),
  creationTimestamp: z.string().nullish(),
  labels: texts,
  annotations: texts,
  ownerReferences: z
    .array(z.object({ kind: z.string(), name: z.string(), uid: z.string().nullish() }))
    .nullish(),
});

export type Metadata = z.infer<typeof wireMetadata>;

export const wireCondition = z.object({
  // Seen without one.
  type: z.string().nullish(),
  status: z.string().nullish(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  lastTransitionTime: z.string().nullish(),
});

export type Condition = z.infer<typeof wireCondition>;

export const wireConditions = z.array(wireCondition).nullish();

export const wireContainerState = z.object({
  terminated: z
    .object({
      exitCode: z.number().nullish(),
      reason: z.string().nullish(),
      message: z.string().nullish(),
      startedAt: z.string().nullish(),
      finishedAt: z.string().nullish(),
    })
    .nullish(),
  waiting: z.object({ reason: z.string().nullish(), message: z.string().nullish() }).nullish(),
  running: z.object({ startedAt: z.string().nullish() }).nullish(),
});

export type ContainerState = z.infer<typeof wireContainerState>;

const wireStep = wireContainerState.extend({
  name: z.string().nullish(),
  container: z.string().nullish(),
  terminationReason: z.string().nullish(),
});

export type Step = z.infer<typeof wireStep>;

// A string, or a list or an object of strings.
const wireResult = z.object({ name: z.string(), value: z.unknown().optional() });

export type Result = z.infer<typeof wireResult>;

const wireTaskRunStatus = z.object({
  conditions: wireConditions,
  podName: z.string().nullish(),
  startTime: z.string().nullish(),
  completionTime: z.string().nullish(),
  steps: z.array(wireStep).nullish(),
  sidecars: z.array(wireStep).nullish(),
  results: z.array(wireResult).nullish(),
  // Before Tekton's v1.
  taskResults: z.array(wireResult).nullish(),
  retriesStatus: z.array(z.object({ conditions: wireConditions })).nullish(),
  taskSpec: z.object({ steps: z.array(z.object({ name: z.string().nullish() })).nullish() }).nullish(),
});

export const wireTaskRun = z.object({
  metadata: wireMetadata,
  spec: z.object({ timeout: z.string().nullish() }).nullish(),
  status: wireTaskRunStatus.nullish(),
});

export type TaskRun = z.infer<typeof wireTaskRun>;

const wirePipelineTask = z.object({
  name: z.string(),
  runAfter: z.array(z.string()).nullish(),
  params: z.unknown().optional(),
  when: z.unknown().optional(),
});

export type PipelineTask = z.infer<typeof wirePipelineTask>;

const wirePipelineSpec = z.object({
  tasks: z.array(wirePipelineTask).nullish(),
  finally: z.array(wirePipelineTask).nullish(),
});

export const wirePipelineRun = z.object({
  metadata: wireMetadata,
  spec: z
    .object({
      pipelineSpec: wirePipelineSpec.nullish(),
      // Seen as a text of YAML; a run must not be lost for that.
      timeouts: z.object({ pipeline: z.string().nullish() }).nullish().catch(null),
      status: z.string().nullish(),
    })
    .nullish(),
  status: z
    .object({
      conditions: wireConditions,
      startTime: z.string().nullish(),
      completionTime: z.string().nullish(),
      pipelineSpec: wirePipelineSpec.nullish(),
      childReferences: z
        .array(
          z.object({
            kind: z.string().nullish(),
            name: z.string(),
            pipelineTaskName: z.string().nullish(),
          }),
        )
        .nullish(),
      // Data of before Tekton's v1 has the task runs inside.
      taskRuns: z
        .record(
          z.string(),
          z.object({ pipelineTaskName: z.string().nullish(), status: wireTaskRunStatus.nullish() }),
        )
        .nullish(),
      skippedTasks: z.array(z.object({ name: z.string(), reason: z.string().nullish() })).nullish(),
      results: z.array(wireResult).nullish(),
      pipelineResults: z.array(wireResult).nullish(),
    })
    .nullish(),
});

export type PipelineRun = z.infer<typeof wirePipelineRun>;
