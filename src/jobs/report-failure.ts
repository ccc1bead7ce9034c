// A job that will not be tried again by itself says so where people wait for it.
import { RetryableError } from '../errors.ts';
import type { Notes } from '../publish/notes.ts';
import type { Reactions } from '../publish/reactions.ts';
import type { Job } from '../queue/job.ts';
import { WorkersDiedError } from '../queue/queue.ts';
import type { Run } from '../records/records.ts';
import type { Publishing } from './publish-analysis.ts';
import { toSessionId } from './session-id.ts';
import { holdNote } from './session-lock.ts';

const TIMEOUT_MS = 60_000;

export async function reportFailure(
  deps: Publishing & { notes: Notes; reactions: Reactions },
  job: Job,
  run: Run,
  error: unknown,
): Promise<void> {
  const { mrIid, sessionId, projectId } = run;
  if (mrIid === null || sessionId === null) return;
  const mr = { projectId, iid: mrIid };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  if (job.kind === 'reply' && job.discussionId !== null) {
    const body = `> ⚠️ ${toWords(run, error, 'This reply could not be answered.')}`;
    const { discussionId, noteId } = job;
    await deps.notes.ensureReply({ mr, sessionId, discussionId, replyTo: noteId, body, signal });
    await deps.reactions.remove({ projectId, mrIid, noteId }, 'eyes', signal);
    return;
  }
  const status = {
    kind: 'failed',
    words: toWords(run, error, '**This analysis could not be finished.**'),
  } as const;
  await holdNote(deps, mr, { id: run.id, signal }, async (held) => {
    const isMeant = (other: string) => other === sessionId;
    const marked = await deps.notes.markAnalysis({ mr, status, isMeant, signal: held });
    if (marked) return;
    const now = await deps.mergeRequests.get(projectId, mrIid, held);
    const newest = toSessionId({ ...now, mrIid, workflow: deps.workflow.name });
    // The text of an earlier commit would say nothing of this one; that of the newest one stays.
    const mayReplace = (there: string) => there !== newest;
    await deps.notes.ensureAnalysis({ mr, sessionId, body: '', status, mayReplace, signal: held });
  });
  await deps.reactions.remove({ projectId, mrIid }, 'eyes', signal);
}

function toWords(run: Run, error: unknown, opening: string): string {
  return (
    `${opening} ${toTrouble(run, error)} Nothing is lost: \`hummingbird jobs retry ${run.id}\` takes it up again where ` +
    'it stopped, and so does the next failed pipeline.'
  );
}

/** Why exactly, is for the log: it may name hosts, keys and files. */
function toTrouble({ failingSince, attempt }: Run, error: unknown): string {
  if (error instanceof WorkersDiedError)
    return `${error.deaths} processes died while they worked on it; a person has to look why.`;
  const since = failingSince === null ? '' : ` since ${toMinute(failingSince)}`;
  const tries = attempt === 1 ? 'once' : `${attempt} times`;
  if (error instanceof RetryableError)
    return `${capitalize(error.who ?? 'something it needs')} could not be used${since}; it was tried ${tries}.`;
  return `It was tried ${tries}${since}, and trying again does not help before a person has looked into the log.`;
}

function toMinute(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function capitalize(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
