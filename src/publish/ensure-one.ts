// GitLab's POST knows no idempotency key, so a note is made to be there once by looking, writing and
// looking again. Two writers at the same time both end up with the oldest note.
import { NotFoundError, RetryableError } from '../errors.ts';

export interface Found {
  noteId: number;
  discussionId: string;
  body: string;
}

export interface OneNote {
  body: string;
  /** All notes that stand for this one. A failure is thrown, for it is not "there is none". */
  find(): Promise<Found[]>;
  post(): Promise<unknown>;
  edit(noteId: number): Promise<unknown>;
  remove(noteId: number): Promise<unknown>;
  /** Leave one that is there as it is, whatever it says. */
  onlyIfNone?: boolean;
}

export interface Ensured {
  noteId: number;
  discussionId: string;
  outcome: 'created' | 'edited' | 'unchanged';
}

/** Afterwards the note is there, once, with this body. */
export async function ensureOne(one: OneNote): Promise<Ensured> {
  const before = await one.find();
  const isNew = before.length === 0;
  if (isNew) await settle(one.post, async () => (await one.find()).length > 0);
  const [kept, ...doubles] = oldestFirst(isNew ? await one.find() : before);
  if (!kept) throw new RetryableError('GitLab took the note but does not list it yet; look again later');

  for (const { noteId } of doubles) await removeIfThere(one, noteId);
  const { noteId, discussionId } = kept;
  if (kept.body === one.body || (one.onlyIfNone && !isNew))
    return { noteId, discussionId, outcome: isNew ? 'created' : 'unchanged' };
  await settle(
    () => one.edit(noteId),
    async () => (await one.find()).some((note) => note.noteId === noteId && note.body === one.body),
  );
  return { noteId, discussionId, outcome: 'edited' };
}

/** Carries out a write. One whose answer was lost may have been done all the same. */
export async function settle(write: () => Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof RetryableError) || !(await isDone())) throw error;
  }
}

function oldestFirst(notes: Found[]): Found[] {
  return notes.toSorted((a, b) => a.noteId - b.noteId);
}

async function removeIfThere(one: OneNote, noteId: number): Promise<void> {
  const isGone = async () => !(await one.find()).some((note) => note.noteId === noteId);
  try {
    await settle(() => one.remove(noteId), isGone);
  } catch (error) {
    // Another writer has removed the same double.
    if (!(error instanceof NotFoundError)) throw error;
  }
}
