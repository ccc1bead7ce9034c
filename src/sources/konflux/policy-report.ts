import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import { defineTool } from '../define-tool.ts';
import { messageOf } from './failures.ts';
import { type Found, findOne, toRemarks } from './find.ts';
import { findTaskRuns } from './find-taskruns.ts';
import { KEYS, read } from './labels.ts';
import { objectName } from './names.ts';
import { findPolicyReport, type PolicyReport, type PolicyRule } from './policy-json.ts';
import type { Scope } from './scope.ts';
import { openTaskRunLog } from './taskrun-log.ts';
import { findTestOutput } from './test-output.ts';
import { PIPELINE_RUNS } from './wanted.ts';
import type { TaskRun } from './wire.ts';

export function createGetPolicyReport(scope: Scope) {
  return defineTool({
    name: 'konflux_get_policy_report',
    description:
      'What Enterprise Contract (Conforma) found in a PipelineRun, as a table: component, kind (violation or warning), rule, title, message, solution. Where a check named verify-enterprise-contract or verify-conforma failed.',
    schema: z.strictObject({ pipelinerun: objectName('From konflux_list_pipelineruns') }),
    async read({ pipelinerun }, signal) {
      const run = await findOne(scope, PIPELINE_RUNS, pipelinerun, signal);
      const finding = await findTaskRuns(scope, run, signal);
      const policyRuns = finding.found.filter(isPolicyRun);
      if (policyRuns.length === 0)
        throw new NotFoundError(`${pipelinerun} has no task that verifies a policy`);
      const reports = await Promise.all(policyRuns.map((one) => readReport(one, signal)));
      const gaps = [...run.gaps, ...finding.gaps, ...reports.flatMap(({ gap }) => gap ?? [])];
      return {
        kind: 'json',
        value: {
          pipelinerun,
          reports: reports.map(({ value }) => value),
          ...toRemarks({ ...finding, gaps: [...new Set(gaps)], isGhost: run.isGhost }),
        },
        gaps,
      };
    },
  });
}

const REPORT = 'step-report-json';
/** Of a log that is read for its report. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

function isPolicyRun({ value: { metadata, status } }: Found<TaskRun>): boolean {
  if ((status?.steps ?? []).some(({ container }) => container === REPORT)) return true;
  const names = [KEYS.pipelineTask, KEYS.task].map((key) => read(metadata, key) ?? '');
  return names.some((name) => /enterprise-contract|conforma|^ec-|verify-ec/.test(name));
}

async function readReport(run: Found<TaskRun>, signal: AbortSignal) {
  const { metadata, status } = run.value;
  const check = findTestOutput(status?.results ?? status?.taskResults);
  const head = { taskrun: metadata.name, ...(check && { check }) };
  try {
    const hasReportStep = (status?.steps ?? []).some(({ container }) => container === REPORT);
    const container = hasReportStep ? REPORT : undefined;
    const gaps: string[] = [];
    const log = await readText(
      await openTaskRunLog(run, { container, onGap: (gap) => gaps.push(gap) }, signal),
    );
    const report = findPolicyReport(log);
    if (report) return { value: { ...head, ...toTable(report) }, gap: undefined };
    const where =
      log.length > MAX_CHARACTERS
        ? `The first ${MAX_CHARACTERS} characters of its log hold`
        : 'Its log holds';
    const note = `${where} no whole report in JSON; read it with konflux_get_taskrun_log.`;
    return { value: { ...head, note }, gap: gaps.length > 0 ? gaps.join('; ') : undefined };
  } catch (error) {
    signal.throwIfAborted();
    const gap = `the report of ${metadata.name}: ${messageOf(error)}`;
    return { value: { ...head, note: `Not available: ${gap}` }, gap };
  }
}

async function readText(chunks: AsyncIterable<Buffer>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_CHARACTERS) break;
  }
  return text;
}

function toTable({ success, components }: PolicyReport) {
  const rows = components.flatMap(({ name, containerImage, violations, warnings }) => [
    ...(violations ?? []).map((rule) => toRow('violation', name ?? containerImage ?? null, rule)),
    ...(warnings ?? []).map((rule) => toRow('warning', name ?? containerImage ?? null, rule)),
  ]);
  return {
    success,
    violations: rows.filter(({ kind }) => kind === 'violation').length,
    warnings: rows.filter(({ kind }) => kind === 'warning').length,
    components: components.map(({ name, containerImage, success: isFine }) => ({
      name: name ?? null,
      image: containerImage ?? null,
      success: isFine ?? null,
    })),
    table: rows.toSorted((a, b) => a.kind.localeCompare(b.kind)),
  };
}

function toRow(kind: 'violation' | 'warning', component: string | null, { msg, metadata }: PolicyRule) {
  return {
    kind,
    component,
    rule: metadata?.code ?? null,
    title: metadata?.title ?? null,
    message: msg ?? null,
    solution: metadata?.solution ?? null,
    ...(metadata?.effective_on && { effective_on: metadata.effective_on }),
  };
}
