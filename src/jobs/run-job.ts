// The story of a job, on one screen: from the queue to the note.
import { NO_FINAL_RESPONSE } from '../agent/prompts.ts';
import { mentions } from '../mentions.ts';
import type { Reactions } from '../publish/reactions.ts';
import { toEventKey } from '../queue/event-key.ts';
import { type AnalyzeJob, type FeedbackJob, laneOf, type ReplyJob } from '../queue/job.ts';
import type { JobContext, JobHandler } from '../queue/queue.ts';
import type { MergeRequest } from '../sources/gitlab/merge-requests.ts';
import { findMergeRequest } from './find-merge-request.ts';
import { keepOrder } from './keep-order.ts';
import { type Marking, markOutdated, markPassed } from './mark-note.ts';
import { publishAnalysis } from './publish-analysis.ts';
import { type PlaceDependencies, readPlace } from './read-place.ts';
import { type RunEnding, type RunRecord, recordRun } from './record-run.ts';
import { reportFailure } from './report-failure.ts';
import { type AgentDependencies, runAgent } from './run-agent.ts';
import { toSessionId } from './session-id.ts';
import { holdSession } from './session-lock.ts';
import { isSmallTalk } from './small-talk.ts';
import { stopByRequest } from './stop-by-request.ts';
import { type Stopping, stopOutdatedRuns } from './stop-runs.ts';

export interface JobDependencies extends AgentDependencies, Marking, PlaceDependencies, Stopping {
  records: Stopping['records'];
  log: Stopping['log'];
  workflow: AgentDependencies['workflow'];
  reactions: Reactions;
  /** Mark threads as resolved that the agent has answered in. */
  resolveThreads: boolean;
}

export function createRunJob(all: JobDependencies): JobHandler {
  return async (context) => {
    const { job, hopeless } = context;
    const log = all.log.child({ job: context.id, kind: job.kind, project: job.project.path, mr: job.mrIid });
    const deps = { ...all, log };
    const recording = { ...deps, onFailed: reportFailure.bind(null, deps, job) };
    if (hopeless && laneOf(job) === 'signals') throw hopeless;
    switch (job.kind) {
      case 'feedback':
        return saveFeedback(deps, job);
      case 'stop':
        return stopByRequest(deps, job, context);
      case 'mr-changed':
        await stopOutdatedRuns(deps, job);
        return job.change === 'pushed' ? markOutdated(deps, job, context) : undefined;
      case 'pipeline-passed':
        return markPassed(deps, job, context);
      case 'analyze':
        return recordRun(recording, context, log, (record) => analyze(deps, context, job, record));
      case 'reply':
        return recordRun(recording, context, log, (record) => answer(deps, context, job, record));
    }
  };
}

async function analyze(
  deps: JobDependencies,
  context: JobContext,
  job: AnalyzeJob,
  record: RunRecord,
): Promise<RunEnding> {
  const mr = await findMergeRequest(deps, job, context.signal);
  if (!mr) return nothingToDo(`no open merge request has commit ${job.sha}`);
  if (mr.state !== 'opened') return nothingToDo(`merge request !${mr.iid} is ${mr.state}`);
  const place = await readPlace(deps, mr, context.signal);
  if ('refusal' in place) return nothingToDo(place.refusal);
  const sessionId = toSessionId({ ...mr, mrIid: mr.iid, workflow: deps.workflow.name });
  await record.about(mr, sessionId);

  return holdSession(deps, sessionId, context, async (held) => {
    record.hold(held.lease);
    const { signal } = held;
    // An older commit's pipeline tells nothing of the newest one.
    const heardOf = job.isMergeResult || job.sha === mr.sha ? job.pipeline : null;
    const { failures } = await deps.failures.read(mr, heardOf, signal);
    if (failures.length === 0) return nothingToDo(`nothing of commit ${mr.sha} fails any more`);
    await deps.reactions.ensure({ projectId: mr.projectId, mrIid: mr.iid }, 'eyes', signal);
    const subject = { ...place, sessionId, mr, question: null, failures, resumes: false };
    return runAgent(deps, held, subject, async ({ note: body, text, ending, reason, usage }) => {
      // An earlier analysis says more than an ending without a word.
      const onlyIfNone = text === NO_FINAL_RESPONSE;
      const askAgain = () => lookForPass(deps, job, mr);
      const analysis = { mr, sessionId, body, onlyIfNone, askAgain };
      const notCurrent = await publishAnalysis(deps, analysis, held);
      const ended = { ending, reason: notCurrent ?? reason, usage };
      await record.end(ended);
      return ended;
    });
  });
}

/** As if GitLab had told of a pipeline that passed. */
function lookForPass({ queue, now }: JobDependencies, job: AnalyzeJob, mr: MergeRequest): Promise<unknown> {
  const passed = { ...job, kind: 'pipeline-passed', mrIid: mr.iid, sha: mr.sha } as const;
  return queue.add(passed, toEventKey(passed, mr.iid, mr.sha, now()));
}

async function answer(
  deps: JobDependencies,
  context: JobContext,
  job: ReplyJob,
  record: RunRecord,
): Promise<RunEnding> {
  const { signal } = context;
  const agent = await deps.agent.get();
  if (job.authorId === agent.id) return nothingToDo("the note is the agent's own");
  const { discussionId, noteId } = job;
  if (discussionId === null) return nothingToDo('the note is in no thread');
  const isCall = (body: string): boolean => mentions(body, agent.username);
  // Before all that is read for an answer: whoever waits for another one comes back often.
  const order = { mr: { projectId: job.project.id, iid: job.mrIid }, discussionId, isCall, signal };
  await keepOrder(deps, job, order);
  const person = await deps.audience.getPerson(job.authorId, signal);
  if (person.isBot) return nothingToDo('the note was written by a bot');
  const mr = await deps.mergeRequests.get(job.project.id, job.mrIid, signal);

  const thread = await deps.notes.findSession({ mr, discussionId, signal });
  if (!thread && !deps.workflow.on.includes('mention'))
    return nothingToDo(`workflow ${deps.workflow.name} is not for calls by name`);
  if (!thread && !job.mentioned) return nothingToDo("the thread is not the agent's");
  const question = await deps.notes.readReply({ mr, discussionId, noteId, signal });
  if (!question) return nothingToDo('the note is gone');
  if (question.authorId !== job.authorId)
    return nothingToDo('the note was not written by whom the event names');
  if (!thread && !isCall(question.body)) return nothingToDo('the note does not call the agent by name');
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
  const sessionId = thread?.sessionId ?? toSessionId({ ...mr, mrIid: mr.iid, workflow: deps.workflow.name });
  await record.about(mr, sessionId);

  return holdSession(deps, sessionId, context, async (held) => {
    record.hold(held.lease);
    const { signal } = held;
    await deps.reactions.ensure({ projectId: mr.projectId, mrIid: mr.iid, noteId }, 'eyes', signal);
    const asked = { question: { noteId, text: question.body }, failures: [], resumes: thread !== null };
    const subject = { ...place, sessionId, mr, ...asked };
    return runAgent(deps, held, subject, async ({ note: body, ending, reason, usage }) => {
      const reply = { mr, discussionId, sessionId, replyTo: noteId, body, signal };
      // Nobody but who asked is told by the text itself.
      const allowMentions = [question.authorUsername];
      await deps.notes.ensureReply({ ...reply, allowMentions, resolve: deps.resolveThreads });
      const ended = { ending, reason, usage };
      await record.end(ended);
      return ended;
    });
  });
}

async function saveFeedback({ records, agent }: JobDependencies, job: FeedbackJob): Promise<void> {
  if (job.noteAuthorId !== (await agent.get()).id) return;
  const { noteId, awardId, userId, value, given } = job;
  await records.feedback.save({ projectId: job.project.id, noteId, awardId, userId, value, given });
}

function nothingToDo(reason: string): RunEnding {
  return { ending: 'nothing-to-do', reason };
}
