import type { Logger } from 'pino';
import { PermanentError } from '../errors.ts';
import { type JobContext, NotYet, StopRequest } from '../queue/queue.ts';
import { type Lease, LeaseLostError, type Records, type Run, type RunUsage } from '../records/records.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { MergeRequest } from '../sources/gitlab/merge-requests.ts';
import { toRunScope } from './ledger.ts';

const RETRY_MS = 3_000;

/** How a run ended: a word for counting, a sentence for people. */
export interface RunEnding {
  ending: string;
  reason: string;
  /** If a model was asked at all. */
  usage?: RunUsage;
}

/** The record of the run that is under way. */
export interface RunRecord {
  /** What it is about, as soon as that is known. */
  about(mr: MergeRequest, sessionId: string): Promise<void>;
  /** From now on only the holder of this lease may change the record. */
  hold(lease: Lease): void;
  /** To be called before the lease is given back. */
  end(ending: RunEnding): Promise<void>;
}

export interface Recording {
  records: Records;
  redactor: Redactor;
  now: () => number;
  /** Hears of the run that will not be tried again; what it throws is logged. */
  onFailed: (run: Run, error: unknown) => Promise<void>;
}

/** Keeps the run's record true whatever the work does. */
export async function recordRun(
  { records, redactor, now, onFailed }: Recording,
  context: JobContext,
  log: Logger,
  work: (record: RunRecord) => Promise<RunEnding>,
): Promise<void> {
  const earlier = await records.runs.get(context.id);
  const { hopeless } = context;
  let run: Run = { ...toRun(context, now()), failingSince: earlier?.failingSince ?? null };
  // Where to tell of it is known from a try that came further.
  if (hopeless && earlier)
    run = { ...run, mrIid: earlier.mrIid, sha: earlier.sha, sessionId: earlier.sessionId };
  let lease: Lease | undefined;
  await records.runs.save(run);
  log.info({ attempt: context.attempt }, 'job started');
  const end = async ({ ending, reason, usage }: RunEnding): Promise<void> => {
    if (run.state === 'ended') return;
    const costMicroUsd = await records.costs.used(toRunScope(context.id));
    const facts = { ending, reason: redactor.text(reason), usage: usage ?? null, costMicroUsd };
    const ended: Run = { ...run, ...facts, state: 'ended', endedAt: now() };
    await records.runs.save(ended, lease);
    run = ended;
    log.info(facts, 'job ended');
  };
  try {
    if (hopeless) throw hopeless;
    const ending = await work({
      async about(mr, sessionId) {
        run = { ...run, mrIid: mr.iid, sha: mr.sha, sessionId };
        await records.runs.save(run);
      },
      hold: (held) => {
        lease = held;
      },
      end,
    });
    await end(ending);
  } catch (error) {
    // Whoever has the session now keeps its records.
    if (error instanceof LeaseLostError) throw new NotYet(error.message, RETRY_MS);
    if (error instanceof NotYet) throw error;
    lease = undefined;
    const stop = context.signal.reason;
    if (stop instanceof StopRequest) {
      if (stop.kind === 'cancelled') await end({ ending: 'cancelled', reason: stop.message });
      throw error;
    }
    run = { ...run, failingSince: run.failingSince ?? now() };
    if (error instanceof PermanentError || context.isLastAttempt) {
      await end({ ending: 'failed', reason: String(error) });
      await onFailed(run, error).catch((err) => log.error({ err }, 'nobody could be told of the failed job'));
    } else await records.runs.save(run);
    throw error;
  }
}

function toRun({ id, job, attempt }: JobContext, now: number): Omit<Run, 'failingSince'> {
  return {
    id,
    jobId: id,
    sessionId: null,
    kind: job.kind,
    projectId: job.project.id,
    projectPath: job.project.path,
    mrIid: job.mrIid,
    // The commit of a merge result is not that of the merge request.
    sha: job.kind === 'analyze' && !job.isMergeResult ? job.sha : null,
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
