import { Readable } from 'node:stream';
import { notFound } from '../api-error.ts';
import type { Call, Router } from '../call.ts';
import { toJob } from '../entities/job.ts';
import type { Job } from '../model.ts';
import { paginateByKeyset } from '../paging.ts';

export function addJobRoutes(router: Router): void {
  router.get('/projects/:id/jobs', (call) => {
    const project = call.project();
    const jobs = [...call.world.jobs.values()]
      .filter((job) => job.projectId === project.id && job.kind === 'build' && inScope(call, job))
      .reverse();
    return paginateByKeyset(call, jobs, { counted: false }).map((job) => toJob(call.world, job));
  });

  router.get('/projects/:id/jobs/:jobId', (call) => toJob(call.world, jobOf(call)));

  router.get('/projects/:id/jobs/:jobId/trace', (call) => {
    const job = jobOf(call);
    const trace = call.world.traces.get(job.id) ?? Buffer.alloc(0);
    return call.reply
      .headers({
        'content-type': 'text/plain',
        'content-disposition': `infile; filename="${job.id}.log"`,
        'content-length': trace.length,
      })
      .send(Readable.from(slicesOf(trace)));
  });
}

/** Whether the request's `scope[]` lets the job through. */
export function inScope(call: Call, job: Job): boolean {
  const scope = call.queryList('scope');
  return scope.length === 0 || scope.includes(job.status);
}

export function jobOf(call: Call): Job {
  const project = call.project();
  const found = call.world.jobs.get(call.numberParam('jobId'));
  if (found?.projectId !== project.id || found.kind !== 'build') throw notFound();
  return found;
}

/** Views of the stored trace, so that sending it copies nothing. */
function* slicesOf(trace: Buffer): Generator<Buffer> {
  for (let at = 0; at < trace.length; at += SLICE_BYTES) yield trace.subarray(at, at + SLICE_BYTES);
}

const SLICE_BYTES = 64 * 1024;
