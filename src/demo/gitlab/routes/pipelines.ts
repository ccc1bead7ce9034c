import { notFound } from '../api-error.ts';
import type { Call, Router } from '../call.ts';
import { toBridge, toJob } from '../entities/job.ts';
import { toPipeline, toPipelineBasic } from '../entities/pipeline.ts';
import { toTestReport, toTestReportSummary } from '../entities/test-report.ts';
import type { Pipeline } from '../model.ts';
import { paginate, paginateByKeyset } from '../paging.ts';
import { jobsOf, userById } from '../world/find.ts';
import { inScope } from './jobs.ts';

export function addPipelineRoutes(router: Router): void {
  const one = '/projects/:id/pipelines/:pipelineId';

  router.get('/projects/:id/pipelines', (call) => {
    const project = call.project();
    const wanted = [...call.world.pipelines.values()]
      .filter((pipeline) => pipeline.projectId === project.id && isWanted(call, pipeline))
      .toSorted((a, b) => timeOf(call, a) - timeOf(call, b) || a.id - b.id);
    if (call.query('sort') !== 'asc') wanted.reverse();
    return paginate(call, wanted).map((pipeline) => toPipelineBasic(call.world, pipeline));
  });

  router.get(one, (call) => toPipeline(call.world, pipelineOf(call)));

  router.get(`${one}/jobs`, (call) => {
    const all = call.query('include_retried') === 'true';
    const jobs = jobsOf(call.world, pipelineOf(call))
      .filter((job) => job.kind === 'build' && (all || !job.retried) && inScope(call, job))
      .reverse();
    return paginateByKeyset(call, jobs, { counted: true }).map((job) => toJob(call.world, job));
  });

  router.get(`${one}/bridges`, (call) => {
    const bridges = jobsOf(call.world, pipelineOf(call))
      .filter((job) => job.kind === 'bridge' && !job.retried && inScope(call, job))
      .reverse();
    return paginate(call, bridges).map((job) => toBridge(call.world, job));
  });

  router.get(`${one}/test_report`, (call) => toTestReport(pipelineOf(call)));

  router.get(`${one}/test_report_summary`, (call) => toTestReportSummary(pipelineOf(call)));
}

function pipelineOf(call: Call): Pipeline {
  const project = call.project();
  const found = call.world.pipelines.get(call.numberParam('pipelineId'));
  if (found?.projectId !== project.id) throw notFound();
  return found;
}

function isWanted(call: Call, pipeline: Pipeline): boolean {
  const { username } = userById(call.world, pipeline.userId);
  const after = call.query('updated_after');
  const before = call.query('updated_before');
  return (
    (call.query('status') ?? pipeline.status) === pipeline.status &&
    (call.query('sha') ?? pipeline.sha) === pipeline.sha &&
    (call.query('ref') ?? pipeline.ref) === pipeline.ref &&
    // Children are listed only for who asks for them.
    (call.query('source') ?? notChild(pipeline)) === pipeline.source &&
    (call.query('username') ?? username) === username &&
    (after === undefined || pipeline.updatedAt > new Date(after)) &&
    (before === undefined || pipeline.updatedAt < new Date(before))
  );
}

function notChild({ source }: Pipeline): Pipeline['source'] | null {
  return source === 'parent_pipeline' ? null : source;
}

function timeOf(call: Call, pipeline: Pipeline): number {
  return call.query('order_by') === 'updated_at' ? pipeline.updatedAt.getTime() : 0;
}
