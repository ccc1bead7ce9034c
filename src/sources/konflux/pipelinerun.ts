import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { causesOfCondition } from './causes.ts';
import { isBad, stateOf, succeededOf } from './condition.ts';
import { findOne, toRemarks } from './find.ts';
import { findTaskRuns } from './find-taskruns.ts';
import { KEYS, read } from './labels.ts';
import { objectName } from './names.ts';
import { toRunSummary } from './run-summary.ts';
import type { Scope } from './scope.ts';
import { buildTaskTree, isFailing, type TaskNode, toFailingPaths } from './task-tree.ts';
import { PIPELINE_RUNS } from './wanted.ts';
import type { PipelineRun } from './wire.ts';

export function createGetPipelineRun(scope: Scope) {
  return defineTool({
    name: 'konflux_get_pipelinerun',
    description:
      'One PipelineRun with the tree of its tasks: state, timing, what each waited for, the causes of its failure as conditions, step states and checks name them, the failing path, skipped tasks, results.',
    schema: z.strictObject({ pipelinerun: objectName('From konflux_list_pipelineruns') }),
    async read({ pipelinerun }, signal) {
      const run = await findOne(scope, PIPELINE_RUNS, pipelinerun, signal);
      const taskRuns = await findTaskRuns(scope, run, signal);
      const nodes = buildTaskTree(run.value, taskRuns.found);
      const { spec, status, metadata } = run.value;
      const finding = { ...taskRuns, gaps: [...new Set([...run.gaps, ...taskRuns.gaps])] };
      return {
        kind: 'json',
        value: {
          ...toRunSummary(run),
          timeout: spec?.timeouts?.pipeline ?? null,
          signed_by_chains: read(metadata, KEYS.signed),
          causes: [...causesOfRun(run.value, nodes), ...causesOfTasks(run.value, nodes)],
          failing_path: toFailingPaths(nodes),
          tasks: nodes,
          results: status?.results ?? status?.pipelineResults ?? [],
          ...toRemarks({ ...finding, isGhost: run.isGhost }),
        },
        gaps: finding.gaps,
      };
    },
  });
}

function causesOfRun({ metadata, status }: PipelineRun, nodes: readonly TaskNode[]): string[] {
  const condition = succeededOf(status?.conditions);
  // "Tasks Completed: 3 (Failed: 1 …)" says nothing that the task does not say better.
  const isOnlyCount = /^Tasks Completed:/.test(condition?.message ?? '') && nodes.some(isFailing);
  const own = condition && !isOnlyCount ? causesOfCondition(condition) : [];
  const unsigned =
    read(metadata, KEYS.signed) === 'failed'
      ? [
          'Tekton Chains could not sign the results (chains.tekton.dev/signed=failed): often the registry refused the push (UNAUTHORIZED)',
        ]
      : [];
  return [...own, ...unsigned];
}

function causesOfTasks({ status }: PipelineRun, nodes: readonly TaskNode[]): string[] {
  const isTimedOut = stateOf(status?.conditions) === 'TimedOut';
  return nodes.flatMap((node) => {
    const causes = isBad(stateOf(status?.conditions)) || isFailing(node) ? node.causes : [];
    const isStuck = isTimedOut && STUCK.has(node.state);
    return [
      ...(isStuck ? [`${node.task} was still running when the time of the pipeline run was up`] : []),
      ...causes.map((cause) => `${node.task}: ${cause}`),
    ];
  });
}

const STUCK: ReadonlySet<TaskNode['state']> = new Set(['Running', 'Pending', 'TimedOut', 'Cancelled']);
