// What a webhook should have told and did not: failed pipelines without an analysis, replies without an answer.
import type { Logger } from 'pino';
import { PermanentError } from '../errors.ts';
import { mentions } from '../mentions.ts';
import type { Notes } from '../publish/notes.ts';
import { toEventKey, toFailedPipelineKey, toReplyKey } from '../queue/event-key.ts';
import { type AnalyzeJob, type ProjectRef, type ReplyJob, toMergeKey } from '../queue/job.ts';
import type { JobQueue, ListedJob } from '../queue/queue.ts';
import type { Records } from '../records/records.ts';
import { SessionCorruptError, type SessionStore } from '../session/session-store.ts';
import type { CommitFailures, HeadState } from '../sources/gitlab/commit-failures.ts';
import type { MergeRequest, MergeRequests } from '../sources/gitlab/merge-requests.ts';
import { isStopRequest } from '../stop-request.ts';
import { findCovered } from './open-conversation.ts';
import { toSessionId } from './session-id.ts';
import { isSmallTalk } from './small-talk.ts';

export interface Missed {
  job: AnalyzeJob | ReplyJob;
  eventKey: string;
  /** For people. */
  why: string;
}

export interface MissedDependencies {
  mergeRequests: MergeRequests;
  failures: CommitFailures;
  notes: Notes;
  store: SessionStore;
  records: Pick<Records, 'runs'>;
  queue: Pick<JobQueue, 'waiting' | 'list'>;
  workflow: { name: string; on: readonly string[] };
  agentName: string;
  /** Users who are never answered. */
  isIgnored: (user: { id: number; username: string }) => boolean;
  log: Logger;
}

const MAX_RUNS = 100;

/** In one merge request, however it was heard of. */
export async function findMissed(
  deps: MissedDependencies,
  project: ProjectRef,
  { iid, since, signal }: { iid: number; since: Date; signal: AbortSignal },
): Promise<Missed[]> {
  const mr = await deps.mergeRequests.get(project.id, iid, signal);
  if (mr.state !== 'opened') return [];
  const head = await deps.failures.read(mr, null, signal);
  const analyses =
    head.failures.length === 0 || (await isUnderWay(deps, mr))
      ? []
      : await findFailures(deps, project, mr, head, signal);
  return [...analyses, ...(await findReplies(deps, project, mr, { since, signal }))];
}

async function isUnderWay({ records, queue }: MissedDependencies, mr: MergeRequest): Promise<boolean> {
  const running = await records.runs.list({
    mr: { projectId: mr.projectId, iid: mr.iid },
    state: 'running',
    limit: MAX_RUNS,
  });
  const analyses = new Set(running.filter(({ kind }) => kind === 'analyze').map(({ jobId }) => jobId));
  // A record alone proves nothing: its end is not written if the database is away just then.
  const isOpen = ({ id, state }: ListedJob): boolean => state !== 'failed' && analyses.has(id);
  if (analyses.size > 0 && (await queue.list()).some(isOpen)) return true;
  return (await queue.waiting(toMergeKey(mr.projectId, mr.iid))) !== null;
}

async function findFailures(
  deps: MissedDependencies,
  project: ProjectRef,
  mr: MergeRequest,
  { failures, pipelines }: HeadState,
  signal: AbortSignal,
): Promise<Missed[]> {
  const sessionId = toSessionId({ ...mr, mrIid: mr.iid, workflow: deps.workflow.name });
  const note = await deps.notes.findAnalysis({ mr, signal });
  const covered = await readCovered(deps, sessionId);
  const hasNote = note?.sessionId === sessionId;
  // Without its session an analysis can not tell what it is about, but it is one.
  if (hasNote && covered === null) return [];
  const fresh = failures.filter(({ id }) => !hasNote || !covered?.has(id));
  const failed = pipelines.filter((one) => fresh.some(({ pipelineId }) => pipelineId === one.id));
  const missed: Missed[] = [];
  for (const pipeline of failed) {
    const job: AnalyzeJob = {
      kind: 'analyze',
      project,
      mrIid: mr.iid,
      sha: pipeline.sha,
      isMergeResult: pipeline.sha !== mr.sha,
      pipeline: { id: pipeline.id, projectId: pipeline.projectId },
    };
    const end = await deps.failures.readEnd(pipeline, signal);
    const ids = fresh.filter(({ pipelineId }) => pipelineId === pipeline.id).map(({ id }) => id);
    const told = [`pipeline/${pipeline.id}`, ...end.failedJobIds.map((id) => `job/${id}`)];
    // A report from outside that fails in a pipeline which has failed before is told by no event.
    const isUntold = !ids.some((id) => told.includes(id));
    // The event was heard when nobody could say what merge request it is about.
    const isOlder = Date.parse(end.finishedAt ?? '') < Date.parse(mr.createdAt);
    const eventKey =
      isUntold || isOlder
        ? toEventKey(job, 'untold', mr.iid, pipeline.id, pipeline.sha, ids.toSorted().join('+'))
        : toFailedPipelineKey(job, end);
    const what = hasNote ? 'failed since the analysis' : 'failed, and there is no analysis';
    missed.push({ job, eventKey, why: `pipeline ${pipeline.id} of ${mr.sha.slice(0, 8)} ${what}` });
  }
  return missed;
}

/** Null when there is no session that could be read. */
async function readCovered(
  { store, log }: MissedDependencies,
  sessionId: string,
): Promise<Set<string> | null> {
  try {
    const session = await store.load(sessionId);
    return session && findCovered(session.context.messages);
  } catch (error) {
    if (!(error instanceof SessionCorruptError) && !(error instanceof PermanentError)) throw error;
    log.warn({ err: error, session: sessionId }, 'session can not be read');
    return null;
  }
}

async function findReplies(
  deps: MissedDependencies,
  project: ProjectRef,
  mr: MergeRequest,
  { since, signal }: { since: Date; signal: AbortSignal },
): Promise<Missed[]> {
  const isMentioned = (body: string): boolean => mentions(body, deps.agentName);
  const isCall = deps.workflow.on.includes('mention') ? isMentioned : () => false;
  const unanswered = await deps.notes.listUnanswered({ mr, isCall, signal });
  return unanswered
    .filter(({ createdAt }) => Date.parse(createdAt) >= since.getTime())
    .filter(({ authorId: id, authorUsername: username }) => !deps.isIgnored({ id, username }))
    .filter(({ body }) => !isStopRequest(body) && !isSmallTalk(body, deps.agentName))
    .map(({ noteId, discussionId, authorId, body }) => {
      const job: ReplyJob = {
        kind: 'reply',
        project,
        mrIid: mr.iid,
        noteId,
        discussionId,
        authorId,
        mentioned: isMentioned(body),
      };
      return { job, eventKey: toReplyKey(job), why: `note ${noteId} has no answer` };
    });
}
