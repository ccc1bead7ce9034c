import type { Pipeline, TestCase } from '../model.ts';

export function toTestReport(pipeline: Pipeline) {
  return {
    ...toCounts(pipeline.testSuites.flatMap((suite) => suite.cases)),
    test_suites: pipeline.testSuites.map((suite) => ({
      name: suite.name,
      ...toCounts(suite.cases),
      suite_error: suite.error,
      test_cases: suite.cases.map((one) => ({
        status: one.status,
        name: one.name,
        classname: one.classname,
        file: one.file,
        execution_time: one.seconds,
        system_output: one.output,
        stack_trace: one.stackTrace,
        recent_failures:
          one.recentFailures === null ? null : { count: one.recentFailures, base_branch: 'main' },
      })),
    })),
  };
}

export function toTestReportSummary(pipeline: Pipeline) {
  const all = toCounts(pipeline.testSuites.flatMap((suite) => suite.cases));
  return {
    total: {
      time: all.total_time,
      count: all.total_count,
      success: all.success_count,
      failed: all.failed_count,
      skipped: all.skipped_count,
      error: all.error_count,
      suite_error: null,
    },
    test_suites: pipeline.testSuites.map((suite) => ({
      name: suite.name,
      ...toCounts(suite.cases),
      build_ids: suite.jobIds,
      suite_error: suite.error,
    })),
  };
}

function toCounts(cases: readonly TestCase[]) {
  const count = (status: TestCase['status']) => cases.filter((one) => one.status === status).length;
  return {
    total_time: cases.reduce((sum, one) => sum + one.seconds, 0),
    total_count: cases.length,
    success_count: count('success'),
    failed_count: count('failed'),
    skipped_count: count('skipped'),
    error_count: count('error'),
  };
}
