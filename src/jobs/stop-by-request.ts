import { mentions } from '../mentions.ts';
import type { AgentAccount } from '../publish/agent-account.ts';
import type { Notes } from '../publish/notes.ts';
import type { Reactions } from '../publish/reactions.ts';
import type { StopJob } from '../queue/job.ts';
import type { JobContext } from '../queue/queue.ts';
import type { Audience } from '../sources/gitlab/audience.ts';
import type { MergeRequests } from '../sources/gitlab/merge-requests.ts';
import { type Stopping, stopAllRuns } from './stop-runs.ts';

export interface StopDependencies extends Stopping {
  agent: AgentAccount;
  notes: Notes;
  reactions: Reactions;
  mergeRequests: MergeRequests;
  audience: Audience;
}

/** A person said stop, by name or in the agent's thread: what runs for the merge request ends, and a thumb says so. */
export async function stopByRequest(
  deps: StopDependencies,
  job: StopJob,
  context: JobContext,
): Promise<void> {
  const { authorId, discussionId, noteId, mrIid, project } = job;
  const { signal } = context;
  const agent = await deps.agent.get(signal);
  if (authorId === agent.id || discussionId === null) return;
  const person = await deps.audience.getPerson(authorId, signal);
  if (person.isBot) return;
  const mr = await deps.mergeRequests.get(project.id, mrIid, signal);
  const note = await deps.notes.readReply({ mr, discussionId, noteId, signal });
  if (note?.authorId !== authorId) return;
  const isCalled = mentions(note.body, agent.username);
  if (!isCalled && !(await deps.notes.findSession({ mr, discussionId, signal }))) return;
  const { visibility } = await deps.audience.ofProject(project.id, signal);
  const refusal = await deps.audience.findRefusal({ mr, userId: authorId, person, visibility }, signal);
  if (refusal !== null) {
    await deps.reactions.ensure({ projectId: project.id, mrIid, noteId }, 'lock', signal);
    return deps.log.info({ note: noteId, reason: refusal }, 'not stopped');
  }
  const reason = `note ${noteId} asked to stop`;
  const stopped = await stopAllRuns(deps, mr, { reason, signal });
  deps.log.info({ note: noteId, stopped }, 'stopped by request');
  await deps.reactions.ensure({ projectId: project.id, mrIid, noteId }, 'thumbsup', signal);
  await deps.reactions.remove({ projectId: project.id, mrIid }, 'eyes', signal);
}
