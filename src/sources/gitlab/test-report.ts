import { z } from 'zod';
import { type TestCase, toFailedTests } from './failed-tests.ts';
import { defineProjectTool } from './project-tool.ts';
import type { Scope } from './scope.ts';
import { fromWire } from './wire.ts';

export function createGetTestReport(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_get_test_report',
    description:
      "A pipeline's test report (artifacts:reports:junit of all its jobs): how many tests passed and failed, and the failed ones with their messages. suite is the job's name. Jobs that upload no report are not in it; suite_errors are reports that GitLab could not read.",
    schema: z.strictObject({ pipeline_id: z.int().min(1).describe('From gitlab_list_pipelines') }),
    async read({ pipeline_id }, { client, projectId }, signal) {
      const answer = await client.withSignal(signal).api.Pipelines.showTestReport(projectId, pipeline_id);
      const { test_suites: suites } = fromWire(
        wireReport,
        `the test report of pipeline ${pipeline_id}`,
        answer,
      );
      const errors = suites.flatMap(({ name, suite_error }) =>
        suite_error ? [{ suite: name, error: suite_error }] : [],
      );
      const report = toFailedTests(suites.flatMap(fromSuite));
      return {
        kind: 'json',
        value: { ...report, ...(errors.length > 0 && { suite_errors: errors }) },
      };
    },
  });
}

const wireCase = z.object({
  status: z.string(),
  name: z.string().nullish(),
  classname: z.string().nullish(),
  file: z.string().nullish(),
  execution_time: z.number().nullish(),
  // A text mostly; what a report has there besides comes as it was parsed.
  system_output: z.unknown(),
  stack_trace: z.unknown(),
  recent_failures: z.object({ count: z.number().nullish(), base_branch: z.string().nullish() }).nullish(),
});

const wireSuite = z.object({
  name: z.string(),
  suite_error: z.string().nullish(),
  test_cases: z.array(wireCase).nullish(),
});

const wireReport = z.object({ test_suites: z.array(wireSuite) });

function fromSuite({ name: suite, test_cases }: z.infer<typeof wireSuite>): TestCase[] {
  return (test_cases ?? []).map((one) => ({
    suite,
    classname: one.classname ?? '',
    name: one.name ?? '',
    status: STATUSES.get(one.status) ?? 'passed',
    file: one.file ?? null,
    seconds: one.execution_time ?? null,
    message: [toText(one.system_output), toText(one.stack_trace)].filter(Boolean).join('\n'),
    recentFailures: one.recent_failures?.count
      ? { count: one.recent_failures.count, branch: one.recent_failures.base_branch ?? 'the default branch' }
      : null,
  }));
}

const STATUSES = new Map<string, TestCase['status']>([
  ['failed', 'failed'],
  ['error', 'error'],
  ['skipped', 'skipped'],
]);

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
