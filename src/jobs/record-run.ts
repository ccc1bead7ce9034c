import type { Logger } from 'pino';
import { PermanentError } from '../errors.ts';
import { type JobContext, NotYet, StopRequest } from '../queue/queue.ts';
import type { Records, Run, RunUsage } from '../records/records.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { MergeRequest } from '../sources/gitlab/merge-requests.ts';
import { toRunScope } from './ledger.ts';

/** How a run ended: a word for counting, a sentence for people. */
export interface RunEnding {
  ending: string;
  reason: string;
  /** If a model was asked at all. */
  usage?: RunUsage;
}

export type OnMergeRequest = (mr: MergeRequest, sessionId: string) => Promise<void>;

/** Keeps the run's record true whatever the work does. */
export async function recordRun(
  { records, redactor, now }: { records: Records; redactor: Redactor; now: () => number },
  context: JobContext,
  log: Logger,
  work: (onMergeRequest: OnMergeRequest) => Promise<RunEnding>,
): Promise<void> {
  let run = toRun(context, now());
  await records.runs.save(run);
  log.info({ attempt: context.attempt }, 'job started');
  const end = async ({ ending, reason, usage }: RunEnding): Promise<void> => {
    const costMicroUsd = await records.costs.used(toRunScope(context.id));
    const facts = { ending, reason: redactor.text(reason), usage: usage ?? null, costMicroUsd };
    await records.runs.save({ ...run, ...facts, state: 'ended', endedAt: now() });
    log.info(facts, 'job ended');
  };
  try {
    const ending = await work(async (mr, sessionId) => {
      run = { ...run, mrIid: mr.iid, sha: mr.sha, sessionId };
      await records.runs.save(run);
    });
    await end(ending);
  } catch (error) {
    const stop = context.signal.reason;
    if (stop instanceof StopRequest && stop.kind === 'cancelled')
      await end({ ending: 'cancelled', reason: stop.message });
    else if (error instanceof PermanentError || (context.isLastAttempt && !(error instanceof NotYet)))
      await end({ ending: 'failed', reason: String(error) });
    throw error;
  }
}

function toRun({ id, job, attempt }: JobContext, now: number): Run {
  return {
    id,
    jobId: id,
    sessionId: null,
    kind: job.kind,
    projectId: job.project.id,
    projectPath: job.project.path,
    mrIid: job.mrIid,
    sha: job.kind === 'analyze' ? job.sha : null,
    state: 'running',
    ending: null,
    reason: null,
    attempt,
    startedAt: now,
    endedAt: null,
    usage: null,
    costMicroUsd: null,
  };
}
