import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { stateOf } from './condition.ts';
import { findOne, toRemarks } from './find.ts';
import { findTaskRuns } from './find-taskruns.ts';
import { KEYS, read } from './labels.ts';
import { objectName } from './names.ts';
import type { Scope } from './scope.ts';
import { findTestOutput } from './test-output.ts';
import { PIPELINE_RUNS } from './wanted.ts';

export function createListTestResults(scope: Scope) {
  return defineTool({
    name: 'konflux_list_test_results',
    description:
      'The checks of a PipelineRun: TEST_OUTPUT of every task, decoded, failed ones first. A check can fail although its TaskRun and the PipelineRun succeeded: policies do.',
    schema: z.strictObject({ pipelinerun: objectName('From konflux_list_pipelineruns') }),
    async read({ pipelinerun }, signal) {
      const run = await findOne(scope, PIPELINE_RUNS, pipelinerun, signal);
      const finding = await findTaskRuns(scope, run, signal);
      const checks = finding.found.flatMap(({ value: { metadata, status } }) => {
        const check = findTestOutput(status?.results ?? status?.taskResults);
        if (!check) return [];
        const task = read(metadata, KEYS.pipelineTask) ?? metadata.name;
        return [{ task, taskrun: metadata.name, taskrun_state: stateOf(status?.conditions), ...check }];
      });
      const gaps = [...new Set([...run.gaps, ...finding.gaps])];
      return {
        kind: 'json',
        value: {
          pipelinerun,
          failed: checks.filter(({ failed }) => failed).length,
          checks: checks.toSorted((a, b) => Number(b.failed) - Number(a.failed)),
          tasks_without_a_check: finding.found.length - checks.length,
          ...toRemarks({ ...finding, gaps, isGhost: run.isGhost }),
        },
        gaps,
      };
    },
  });
}
