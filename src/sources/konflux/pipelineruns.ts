import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { isBad, stateOf } from './condition.ts';
import { type Finding, toRemarks } from './find.ts';
import { findAll } from './find-all.ts';
import { isOfProject, labelsOfCommit, labelsOfMergeRequest } from './labels.ts';
import { ofWhat } from './names.ts';
import { toRunSummary } from './run-summary.ts';
import type { Scope } from './scope.ts';
import { findTestOutput } from './test-output.ts';
import { PIPELINE_RUNS } from './wanted.ts';
import type { PipelineRun } from './wire.ts';

export function createListPipelineRuns(scope: Scope) {
  return defineTool({
    name: 'konflux_list_pipelineruns',
    description:
      "Konflux's PipelineRuns (builds, tests, releases) of the commit of this job, or of all commits of its merge request; failed ones first, then the newest: name, type, state, reason, message, component, scenario, times, link. Of the cluster and of its archives.",
    schema: z.strictObject({ of: ofWhat }),
    async read({ of = 'commit' }, signal) {
      const finding = await findRuns(scope, of, signal);
      const runs = finding.found.toSorted((a, b) => urgencyOf(b.value) - urgencyOf(a.value) || byAge(a, b));
      return {
        kind: 'json',
        value: {
          of: of === 'commit' ? { sha: scope.sha } : { merge_request: scope.mrIid },
          total: runs.length,
          failed: runs.filter(({ value }) => urgencyOf(value) > 0).length,
          pipelineruns: runs.map(toRunSummary),
          ...(runs.length === 0 && { note: NOTHING }),
          ...toRemarks(finding),
        },
        gaps: finding.gaps,
      };
    },
  });
}

const NOTHING =
  'None was found. It may be pruned and not archived, or it never started: then the status on the commit or a comment of Pipelines-as-Code says why.';

async function findRuns(
  scope: Scope,
  of: 'commit' | 'merge_request',
  signal: AbortSignal,
): Promise<Finding<PipelineRun>> {
  if (of === 'commit') return findAll(scope, PIPELINE_RUNS, labelsOfCommit(scope.sha), signal);
  const finding = await findAll(scope, PIPELINE_RUNS, labelsOfMergeRequest(scope.mrIid), signal);
  // Every project of the namespace may have a merge request of that number.
  const found = finding.found.filter(({ value }) => isOfProject(value.metadata, scope) === true);
  return { ...finding, found };
}

function urgencyOf({ status }: PipelineRun): number {
  if (isBad(stateOf(status?.conditions))) return 2;
  return findTestOutput(status?.results ?? status?.pipelineResults)?.failed ? 1 : 0;
}

function byAge(a: { value: PipelineRun }, b: { value: PipelineRun }): number {
  const [one, other] = [a, b].map(({ value }) => value.metadata.creationTimestamp ?? '');
  return (other ?? '').localeCompare(one ?? '');
}
