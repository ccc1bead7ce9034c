// Jobs of one name in one pipeline are tries of the same job: the newest counts, the others were retried.
import { z } from 'zod';

export const wireJob = z.object({
  id: z.number(),
  name: z.string(),
  stage: z.string(),
  status: z.string(),
  allow_failure: z.boolean(),
  failure_reason: z.string().nullish(),
  duration: z.number().nullish(),
  finished_at: z.string().nullish(),
  web_url: z.string(),
});

export type WireJob = z.infer<typeof wireJob>;

/** Every try, those that failed first: what blocks, what is allowed to fail, what was retried. */
export function fromTries(wireJobs: readonly WireJob[]) {
  return [...Map.groupBy(wireJobs, ({ name }) => name).values()]
    .flatMap((tries) => {
      const oldestFirst = tries.toSorted((a, b) => a.id - b.id);
      const newest = oldestFirst.at(-1);
      return oldestFirst.map((job) =>
        job === newest ? fromNewest(job, oldestFirst.slice(0, -1)) : fromEarlier(job, newest),
      );
    })
    .toSorted((a, b) => urgencyOf(a) - urgencyOf(b) || a.id - b.id);
}

function fromNewest(job: WireJob, earlier: readonly WireJob[]) {
  const failedTries = earlier.filter(({ status }) => status === 'failed').map(({ id }) => id);
  return {
    ...fromJob(job),
    retried: false,
    ...(failedTries.length > 0 && { failed_tries: failedTries }),
    ...(failedTries.length > 0 && job.status === 'success' && { passed_on_retry: true }),
  };
}

function fromEarlier(job: WireJob, newest: WireJob | undefined) {
  return {
    ...fromJob(job),
    retried: true,
    ...(newest && { newest_try: { id: newest.id, status: newest.status } }),
    ...(job.status === 'failed' && newest?.status === 'success' && { passed_on_retry: true }),
  };
}

function fromJob(job: WireJob) {
  return {
    id: job.id,
    name: job.name,
    stage: job.stage,
    status: job.status,
    allow_failure: job.allow_failure,
    failure_reason: job.failure_reason ?? null,
    duration: job.duration ?? null,
    web_url: job.web_url,
  };
}

function urgencyOf(job: { status: string; allow_failure: boolean; retried: boolean }): number {
  if (job.status !== 'failed') return 3;
  if (job.retried) return 2;
  return job.allow_failure ? 1 : 0;
}
