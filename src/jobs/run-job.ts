// The story of a job, from the queue to its ending.
import type { Logger } from 'pino';
import { PermanentError } from '../errors.ts';
import type { AgentAccount } from '../publish/agent-account.ts';
import type { Reactions } from '../publish/reactions.ts';
import type { AnalyzeJob, FeedbackJob, ReplyJob } from '../queue/job.ts';
import { type JobContext, type JobHandler, type JobQueue, StopRequest } from '../queue/queue.ts';
import type { Records, Run } from '../records/records.ts';
import type { MergeRequest, MergeRequests } from '../sources/gitlab/merge-requests.ts';
import { stopOutdatedRuns } from './stop-outdated-runs.ts';

export interface JobDependencies {
  mergeRequests: MergeRequests;
  reactions: Reactions;
  agent: AgentAccount;
  records: Records;
  queue: JobQueue;
  log: Logger;
  now: () => number;
}

/** How a run ended: a word for counting, a sentence for people. */
interface Ending {
  ending: 'acknowledged' | 'nothing-to-do';
  reason: string;
}

export function createRunJob(deps: JobDependencies): JobHandler {
  return async (context) => {
    const { job } = context;
    const log = deps.log.child({ job: context.id, kind: job.kind, project: job.project.path, mr: job.mrIid });
    switch (job.kind) {
      case 'feedback':
        return saveFeedback(deps, job);
      case 'mr-changed':
        return stopOutdatedRuns(deps, job, log);
      default:
        return recordRun(deps, context, log, (begun) =>
          job.kind === 'analyze'
            ? acknowledgeFailure(deps, context, job, begun)
            : acknowledgeReply(deps, context, job, begun),
        );
    }
  };
}

type OnMergeRequest = (mr: MergeRequest) => Promise<void>;

async function acknowledgeFailure(
  deps: JobDependencies,
  { signal }: JobContext,
  job: AnalyzeJob,
  onMergeRequest: OnMergeRequest,
): Promise<Ending> {
  const mr = await findMergeRequest(deps, job, signal);
  if (!mr) return nothingToDo(`no open merge request has commit ${job.sha}`);
  await onMergeRequest(mr);
  if (mr.state !== 'opened') return nothingToDo(`merge request !${mr.iid} is ${mr.state}`);
  await deps.reactions.ensure({ projectId: mr.projectId, mrIid: mr.iid }, 'eyes', signal);
  return { ending: 'acknowledged', reason: `the failure of pipeline ${job.pipeline.id} was seen` };
}

async function acknowledgeReply(
  deps: JobDependencies,
  { signal }: JobContext,
  job: ReplyJob,
  onMergeRequest: OnMergeRequest,
): Promise<Ending> {
  const agent = await deps.agent.get();
  if (job.authorId === agent.id) return nothingToDo("the note is the agent's own");
  if (await deps.mergeRequests.isBot(job.authorId, signal))
    return nothingToDo('the note was written by a bot');
  const mr = await deps.mergeRequests.get(job.project.id, job.mrIid, signal);
  await onMergeRequest(mr);
  if (mr.state !== 'opened') return nothingToDo(`merge request !${mr.iid} is ${mr.state}`);
  if (!(await concernsAgent(deps, mr, job, signal))) return nothingToDo("the thread is not the agent's");
  await deps.reactions.ensure({ projectId: mr.projectId, mrIid: mr.iid, noteId: job.noteId }, 'eyes', signal);
  return { ending: 'acknowledged', reason: `note ${job.noteId} was seen` };
}

async function findMergeRequest(
  deps: JobDependencies,
  job: AnalyzeJob,
  signal: AbortSignal,
): Promise<MergeRequest | null> {
  if (job.mrIid !== null) return deps.mergeRequests.get(job.project.id, job.mrIid, signal);
  const found = await deps.mergeRequests.findBySha(job.project.id, job.sha, signal);
  // The one whose newest commit this is; an older commit's failure is of interest only without one.
  return found.find((mr) => mr.sha === job.sha) ?? found[0] ?? null;
}

/** Either somebody called the agent by name, or wrote in a thread the agent takes part in. */
async function concernsAgent(
  deps: JobDependencies,
  mr: MergeRequest,
  job: ReplyJob,
  signal: AbortSignal,
): Promise<boolean> {
  if (job.mentioned) return true;
  if (job.discussionId === null) return false;
  const agent = await deps.agent.get();
  const notes = await deps.mergeRequests.readThread(mr, job.discussionId, signal);
  return notes.some((note) => note.authorId === agent.id && !note.isSystem);
}

/** Keeps the run's record true whatever the work does. */
async function recordRun(
  deps: JobDependencies,
  context: JobContext,
  log: Logger,
  work: (onMergeRequest: OnMergeRequest) => Promise<Ending>,
): Promise<void> {
  let run = toRun(context, deps.now());
  await deps.records.runs.save(run);
  log.info({ attempt: context.attempt }, 'job started');
  const end = async (ending: string, reason: string): Promise<void> => {
    await deps.records.runs.save({ ...run, state: 'ended', ending, reason, endedAt: deps.now() });
    log.info({ ending, reason }, 'job ended');
  };
  try {
    const { ending, reason } = await work(async (mr) => {
      run = { ...run, mrIid: mr.iid, sha: mr.sha };
      await deps.records.runs.save(run);
    });
    await end(ending, reason);
  } catch (error) {
    const stop = context.signal.reason;
    if (stop instanceof StopRequest && stop.kind === 'cancelled') await end('cancelled', stop.message);
    else if (error instanceof PermanentError || context.isLastAttempt) await end('failed', String(error));
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
  };
}

async function saveFeedback({ records }: JobDependencies, job: FeedbackJob): Promise<void> {
  const { noteId, awardId, userId, value, given } = job;
  await records.feedback.save({ projectId: job.project.id, noteId, awardId, userId, value, given });
}

function nothingToDo(reason: string): Ending {
  return { ending: 'nothing-to-do', reason };
}
