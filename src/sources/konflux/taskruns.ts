import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { causesOfTaskRun } from './causes.ts';
import { secondsBetween, stateOf, toConditions } from './condition.ts';
import { type Found, findOne, toRemarks } from './find.ts';
import { findTaskRuns } from './find-taskruns.ts';
import { KEYS, read } from './labels.ts';
import { objectName } from './names.ts';
import type { Scope } from './scope.ts';
import { toStepSummary } from './step-summary.ts';
import { isFailing } from './task-tree.ts';
import { findTestOutput } from './test-output.ts';
import { PIPELINE_RUNS } from './wanted.ts';
import type { TaskRun } from './wire.ts';

export function createListTaskRuns(scope: Scope) {
  return defineTool({
    name: 'konflux_list_taskruns',
    description:
      'The TaskRuns of a PipelineRun in detail, failed ones first: conditions, causes, the state of every step and sidecar with exit code and reason, results with TEST_OUTPUT decoded, pod, earlier tries.',
    schema: z.strictObject({
      pipelinerun: objectName('From konflux_list_pipelineruns'),
      only_failed: z.boolean().optional().describe('Leave out those that succeeded'),
    }),
    async read({ pipelinerun, only_failed = false }, signal) {
      const run = await findOne(scope, PIPELINE_RUNS, pipelinerun, signal);
      const finding = await findTaskRuns(scope, run, signal);
      const all = finding.found.map(fromTaskRun);
      const taskruns = all.filter((one) => !only_failed || one.failed);
      const gaps = [...new Set([...run.gaps, ...finding.gaps])];
      return {
        kind: 'json',
        value: {
          pipelinerun,
          total: all.length,
          failed: all.filter(({ failed }) => failed).length,
          taskruns: taskruns.toSorted((a, b) => Number(b.failed) - Number(a.failed)),
          ...toRemarks({ ...finding, gaps, isGhost: run.isGhost }),
        },
        gaps,
      };
    },
  });
}

function fromTaskRun({ value: { metadata, spec, status }, store }: Found<TaskRun>) {
  const task = read(metadata, KEYS.pipelineTask) ?? metadata.name;
  const state = stateOf(status?.conditions);
  const causes = causesOfTaskRun(status);
  const results = status?.results ?? status?.taskResults ?? [];
  const check = findTestOutput(results);
  return {
    taskrun: metadata.name,
    task,
    state,
    failed: isFailing({ task, taskrun: null, state, after: [], started: null, seconds: null, causes }),
    causes,
    conditions: toConditions(status?.conditions),
    started: status?.startTime ?? null,
    seconds: secondsBetween(status?.startTime, status?.completionTime),
    timeout: spec?.timeout ?? null,
    pod: status?.podName || null,
    steps: (status?.steps ?? []).map(toStepSummary),
    ...(status?.sidecars?.length && { sidecars: status.sidecars.map(toStepSummary) }),
    results: results.map(({ name, value }) => ({ name, value })),
    ...(check && { check }),
    ...(status?.retriesStatus?.length && {
      earlier_tries: status.retriesStatus.map(({ conditions }) => conditions ?? []),
    }),
    found_in: store.name,
  };
}
