import { isUnfinished } from './condition.ts';
import type { Wanted } from './find.ts';
import { RESOURCES } from './store.ts';
import { type PipelineRun, type TaskRun, wirePipelineRun, wireTaskRun } from './wire.ts';

export const PIPELINE_RUNS: Wanted<PipelineRun> = {
  resource: RESOURCES.pipelineRuns,
  schema: wirePipelineRun,
  isUnfinished,
};

export const TASK_RUNS: Wanted<TaskRun> = { resource: RESOURCES.taskRuns, schema: wireTaskRun, isUnfinished };
