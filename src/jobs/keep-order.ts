import type { Notes, ThreadRef } from '../publish/notes.ts';
import { toReplyKey } from '../queue/event-key.ts';
import type { ReplyJob } from '../queue/job.ts';
import { type JobQueue, NotYet } from '../queue/queue.ts';

const RETRY_MS = 500;
/** Two webhooks may overtake each other by as much. */
const OVERTAKING_MS = 5_000;

/** Steps aside while an earlier reply of the same thread is still to be answered. */
export async function keepOrder(
  { notes, queue, now }: { notes: Notes; queue: Pick<JobQueue, 'stateOf'>; now: () => number },
  job: ReplyJob,
  thread: ThreadRef & { isCall: (body: string) => boolean },
): Promise<void> {
  const unanswered = await notes.listUnanswered(thread);
  for (const { noteId, createdAt } of unanswered.filter((note) => note.noteId < job.noteId)) {
    const state = await queue.stateOf('reply', toReplyKey({ ...job, noteId }));
    const mayComeYet = state === 'unknown' && now() - Date.parse(createdAt) < OVERTAKING_MS;
    if (state === 'pending' || mayComeYet)
      throw new NotYet(`note ${noteId} of the same thread is answered first`, RETRY_MS);
  }
}
