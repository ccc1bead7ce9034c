// GitLab's POST knows no idempotency key, so a note is made to be there once by looking, writing and
// looking again. Two writers at the same time both end up with the oldest note, also when one of them was told to stop:
// whoever has posted looks again.
import { NotFoundError, RetryableError } from '../errors.ts';

export interface Found {
  noteId: number;
  discussionId: string;
  body: string;
}

export interface OneNote<Note extends Found> {
  body: string;
  /** After it nothing is written, but doubles are removed. */
  signal: AbortSignal;
  /** All notes that stand for this one. A failure is thrown, for it is not "there is none". */
  find(signal?: AbortSignal): Promise<Note[]>;
  post(): Promise<unknown>;
  edit(noteId: number): Promise<unknown>;
  /** Whether told to stop or not. */
  remove(noteId: number): Promise<unknown>;
  /** Whether what is there may be replaced; left out, it may. */
  mayReplace?(there: Note): boolean;
}

export interface Ensured {
  noteId: number;
  discussionId: string;
  outcome: 'created' | 'edited' | 'unchanged';
}

/** Afterwards the note is there, once, with this body or one that may not be replaced. */
export async function ensureOne<Note extends Found>(one: OneNote<Note>): Promise<Ensured> {
  const before = await one.find(one.signal);
  const isNew = before.length === 0;
  if (isNew) await settle(one.post, async () => (await one.find()).length > 0);
  const [kept, ...doubles] = oldestFirst(isNew ? await one.find() : before);
  if (!kept)
    throw new RetryableError('GitLab took the note but does not list it yet; look again later', {
      who: 'GitLab',
    });

  for (const { noteId } of doubles) await removeIfThere(one, noteId);
  const { noteId, discussionId } = kept;
  if (kept.body === one.body || (!isNew && one.mayReplace?.(kept) === false))
    return { noteId, discussionId, outcome: isNew ? 'created' : 'unchanged' };
  // The note that was there first may be that of whoever works in our place by now.
  one.signal.throwIfAborted();
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

function oldestFirst<Note extends Found>(notes: Note[]): Note[] {
  return notes.toSorted((a, b) => a.noteId - b.noteId);
}

async function removeIfThere<Note extends Found>(one: OneNote<Note>, noteId: number): Promise<void> {
  const isGone = async () => !(await one.find()).some((note) => note.noteId === noteId);
  try {
    await settle(() => one.remove(noteId), isGone);
  } catch (error) {
    // Another writer has removed the same double.
    if (!(error instanceof NotFoundError)) throw error;
  }
}
