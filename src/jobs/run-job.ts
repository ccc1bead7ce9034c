// The story of a job, on one screen: from the queue to the note.
import type { AgentEvent } from '../agent/events.ts';
import { ModelError } from '../agent/model.ts';
import { NO_FINAL_RESPONSE } from '../agent/prompts.ts';
import { RetryableError } from '../errors.ts';
import { mentions } from '../mentions.ts';
import type { AgentAccount } from '../publish/agent-account.ts';
import type { Notes } from '../publish/notes.ts';
import type { Reactions } from '../publish/reactions.ts';
import type { AnalyzeJob, FeedbackJob, ProjectRef, ReplyJob } from '../queue/job.ts';
import type { JobContext, JobHandler, JobQueue } from '../queue/queue.ts';
import type { Records } from '../records/records.ts';
import type { Audience, Visibility } from '../sources/gitlab/audience.ts';
import type { MergeRequest, MergeRequests } from '../sources/gitlab/merge-requests.ts';
import {
  type Findings,
  type Investigation,
  type InvestigationDependencies,
  investigate,
  type WorkflowText,
} from './investigate.ts';
import { type OnMergeRequest, type RunEnding, recordRun } from './record-run.ts';
import { toSessionId } from './session-id.ts';
import { holdSession } from './session-lock.ts';
import { isSmallTalk } from './small-talk.ts';
import { stopOutdatedRuns } from './stop-outdated-runs.ts';

export interface JobDependencies extends InvestigationDependencies {
  mergeRequests: MergeRequests;
  audience: Audience;
  /** Whether the configuration lets the agent work for this project. */
  isAllowed: (project: ProjectRef) => boolean;
  /** Quote logs where more people see the merge request than they. */
  quotesMembersOnlyLogs: boolean;
  reactions: Reactions;
  notes: Notes;
  agent: AgentAccount;
  records: Records;
  queue: JobQueue;
  workflow: WorkflowText;
  /** Mark threads as resolved that the agent has answered in. */
  resolveThreads: boolean;
  /** Sees what the agent does while it does it. */
  watch: (live: LiveEvent) => void;
}

export interface LiveEvent {
  jobId: string;
  sessionId: string;
  event: AgentEvent;
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
      case 'analyze':
        return recordRun(deps, context, log, (begun) => analyze({ ...deps, log }, context, job, begun));
      case 'reply':
        return recordRun(deps, context, log, (begun) => answer({ ...deps, log }, context, job, begun));
    }
  };
}

async function analyze(
  deps: JobDependencies,
  context: JobContext,
  job: AnalyzeJob,
  onMergeRequest: OnMergeRequest,
): Promise<RunEnding> {
  const { signal } = context;
  const mr = await findMergeRequest(deps, job, signal);
  if (!mr) return nothingToDo(`no open merge request has commit ${job.sha}`);
  if (mr.state !== 'opened') return nothingToDo(`merge request !${mr.iid} is ${mr.state}`);
  const place = await readPlace(deps, mr, signal);
  if ('refusal' in place) return nothingToDo(place.refusal);
  const sessionId = toSessionId({ ...toSubject(mr), workflow: deps.workflow.name });
  await onMergeRequest(mr, sessionId);

  return holdSession(deps, sessionId, context, async (held) => {
    const { signal } = held;
    await deps.reactions.ensure({ projectId: mr.projectId, mrIid: mr.iid }, 'eyes', signal);
    const findings = await runAgent(deps, held, {
      ...place,
      sessionId,
      mr,
      question: null,
      resumes: false,
    });
    // An earlier analysis says more than an ending without a word.
    const onlyIfNone = findings.text === NO_FINAL_RESPONSE;
    await deps.notes.ensureAnalysis({ mr, sessionId, body: findings.note, onlyIfNone, signal });
    return { ending: findings.ending, reason: findings.reason, usage: findings.usage };
  });
}

async function answer(
  deps: JobDependencies,
  context: JobContext,
  job: ReplyJob,
  onMergeRequest: OnMergeRequest,
): Promise<RunEnding> {
  const { signal } = context;
  const agent = await deps.agent.get();
  if (job.authorId === agent.id) return nothingToDo("the note is the agent's own");
  const person = await deps.audience.getPerson(job.authorId, signal);
  if (person.isBot) return nothingToDo('the note was written by a bot');
  const mr = await deps.mergeRequests.get(job.project.id, job.mrIid, signal);
  if (mr.state !== 'opened') return nothingToDo(`merge request !${mr.iid} is ${mr.state}`);
  const { discussionId, noteId } = job;
  if (discussionId === null) return nothingToDo('the note is in no thread');

  const thread = await deps.notes.findSession({ mr, discussionId, signal });
  if (!thread && !deps.workflow.on.includes('mention'))
    return nothingToDo(`workflow ${deps.workflow.name} is not for calls by name`);
  if (!thread && !job.mentioned) return nothingToDo("the thread is not the agent's");
  const question = await deps.notes.readReply({ mr, discussionId, noteId, signal });
  if (!question) return nothingToDo('the note is gone');
  if (question.authorId !== job.authorId)
    return nothingToDo('the note was not written by whom the event names');
  if (!thread && !mentions(question.body, agent.username))
    return nothingToDo('the note does not call the agent by name');
  const place = await readPlace(deps, mr, signal);
  if ('refusal' in place) return nothingToDo(place.refusal);
  const asking = { mr, userId: job.authorId, person, visibility: place.visibility };
  const refusal = await deps.audience.findRefusal(asking, signal);
  if (refusal !== null) {
    await deps.reactions.ensure({ projectId: mr.projectId, mrIid: mr.iid, noteId }, 'lock', signal);
    return nothingToDo(refusal);
  }
  if (thread && isSmallTalk(question.body, agent.username)) {
    await deps.reactions.ensure({ projectId: mr.projectId, mrIid: mr.iid, noteId }, 'thumbsup', signal);
    return { ending: 'small-talk', reason: 'the reply asks for nothing' };
  }
  const sessionId = thread?.sessionId ?? toSessionId({ ...toSubject(mr), workflow: deps.workflow.name });
  await onMergeRequest(mr, sessionId);

  return holdSession(deps, sessionId, context, async (held) => {
    const { signal } = held;
    await deps.reactions.ensure({ projectId: mr.projectId, mrIid: mr.iid, noteId }, 'eyes', signal);
    const findings = await runAgent(deps, held, {
      ...place,
      sessionId,
      mr,
      question: { noteId, text: question.body },
      resumes: thread !== null,
    });
    const reply = { mr, discussionId, sessionId, replyTo: noteId, body: findings.note, signal };
    // Nobody but who asked is told by the text itself.
    const allowMentions = [question.authorUsername];
    await deps.notes.ensureReply({ ...reply, allowMentions, resolve: deps.resolveThreads });
    return { ending: findings.ending, reason: findings.reason, usage: findings.usage };
  });
}

/** The agent's findings, or the reason why this job has to be taken up again later. */
async function runAgent(
  deps: JobDependencies,
  context: JobContext,
  subject: Omit<Investigation, 'runId' | 'workflow'>,
): Promise<Findings> {
  const { signal, isLastAttempt } = context;
  const investigation = { ...subject, runId: context.id, workflow: deps.workflow };
  const findings = await investigate(deps, investigation, {
    signal,
    onEvent: (event) => deps.watch({ jobId: context.id, sessionId: subject.sessionId, event }),
  });
  signal.throwIfAborted();
  const { error } = findings;
  if (error === undefined) return findings;
  deps.log.error({ err: error, ending: findings.ending }, 'the agent broke off');
  // Until the last try, the session is continued in silence instead of telling people half of it.
  if (error instanceof ModelError && error.kind === 'retry' && !isLastAttempt)
    throw new RetryableError(`the model is away: ${error.message}`, {
      cause: error,
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    });
  if (!(error instanceof ModelError) && !isLastAttempt) throw error;
  return findings;
}

/** Where the work is done and who looks on, by GitLab's own word: an event says what its sender likes. */
async function readPlace(
  { audience, isAllowed, quotesMembersOnlyLogs }: JobDependencies,
  { projectId }: MergeRequest,
  signal: AbortSignal,
): Promise<{ project: ProjectRef; visibility: Visibility } | { refusal: string }> {
  const { path, visibility, logsAreForMembers } = await audience.ofProject(projectId, signal);
  const project = { id: projectId, path };
  if (!isAllowed(project)) return { refusal: `project ${path} is not among those of the configuration` };
  if (logsAreForMembers && !quotesMembersOnlyLogs)
    return { refusal: 'the logs are for members only, and a note would show them to others' };
  return { project, visibility };
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

async function saveFeedback({ records, agent }: JobDependencies, job: FeedbackJob): Promise<void> {
  if (job.noteAuthorId !== (await agent.get()).id) return;
  const { noteId, awardId, userId, value, given } = job;
  await records.feedback.save({ projectId: job.project.id, noteId, awardId, userId, value, given });
}

function toSubject(mr: MergeRequest): { projectId: number; mrIid: number; sha: string } {
  return { projectId: mr.projectId, mrIid: mr.iid, sha: mr.sha };
}

function nothingToDo(reason: string): RunEnding {
  return { ending: 'nothing-to-do', reason };
}
