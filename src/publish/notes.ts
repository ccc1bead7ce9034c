import { NotFoundError, PermanentError } from '../errors.ts';
import type { GitlabClient } from '../gitlab/client.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { AgentAccount } from './agent-account.ts';
import { type Ensured, ensureOne, settle } from './ensure-one.ts';
import type { Marker, Markers } from './marker.ts';
import { makeSafe } from './safe-text.ts';
import { type MrRef, onlyMarked, readThread, readThreads, type ThreadNote } from './threads.ts';

/** What the agent writes under a merge request. Every text is free of secrets and made safe before it is posted. */
export interface Notes {
  /** Afterwards the merge request has one analysis by the agent: this one. */
  ensureAnalysis(
    analysis: NewText & { /** Leave one that is there as it is. */ onlyIfNone?: boolean },
  ): Promise<Ensured>;
  /** Afterwards the thread has one answer by the agent to the note `replyTo`: this one. */
  ensureReply(
    reply: NewText & { discussionId: string; replyTo: number; resolve?: boolean },
  ): Promise<Ensured>;
  /** The session that wrote last in this thread; `null` if the agent did not write there. */
  findSession(thread: ThreadRef): Promise<{ sessionId: string; noteId: number } | null>;
  /** A person's note; `null` if it is not in this thread, or not any more. */
  readReply(note: ThreadRef & { noteId: number }): Promise<Reply | null>;
}

export interface NewText {
  mr: MrRef;
  sessionId: string;
  body: string;
  /** Usernames that the text may notify. */
  allowMentions?: readonly string[];
  signal: AbortSignal;
}

export interface ThreadRef {
  mr: MrRef;
  discussionId: string;
  signal: AbortSignal;
}

export interface Reply {
  body: string;
  authorId: number;
  authorUsername: string;
  createdAt: string;
}

export interface NotesParts {
  client: GitlabClient;
  agent: AgentAccount;
  markers: Markers;
  redactor: Redactor;
  /** Of the text, without its marker. */
  maxBytes?: number;
}

// Far below GitLab's limit of a million characters: nobody reads more.
const DEFAULT_MAX_BYTES = 60_000;

export function createNotes(parts: NotesParts): Notes {
  const { client, agent, markers, redactor, maxBytes = DEFAULT_MAX_BYTES } = parts;
  const onlyOurs = (notes: ThreadNote[], { mr, signal }: { mr: MrRef; signal: AbortSignal }) =>
    onlyMarked(notes, mr, { agent, markers, signal });

  const toBody = ({ mr, body, allowMentions = [] }: NewText, marker: Marker): string => {
    const text = makeSafe(redactor.text(body), { maxBytes, allowMentions });
    if (text === '') throw new PermanentError('There is no text to post');
    return `${text}\n\n${markers.write({ ...marker, projectId: mr.projectId, mrIid: mr.iid })}`;
  };

  return {
    async ensureAnalysis(analysis) {
      const { mr, sessionId, onlyIfNone = false, signal } = analysis;
      const bound = client.withSignal(signal);
      const body = toBody(analysis, { kind: 'analysis', sessionId });
      return ensureOne({
        ...writesOf(bound, mr, body),
        // Whatever its session: a later run takes over the note of an earlier one.
        find: async () =>
          (await onlyOurs(await readThreads(bound, mr), analysis)).filter(
            ({ marker }) => marker.kind === 'analysis',
          ),
        post: () => bound.api.MergeRequestNotes.create(mr.projectId, mr.iid, body),
        onlyIfNone,
      });
    },

    async ensureReply(reply) {
      const { mr, discussionId, sessionId, replyTo, resolve = false, signal } = reply;
      const bound = client.withSignal(signal);
      const body = toBody(reply, { kind: 'reply', sessionId, replyTo });
      const ensured = await ensureOne({
        ...writesOf(bound, mr, body),
        find: async () =>
          (await onlyOurs(await readThread(bound, mr, discussionId), reply)).filter(
            ({ marker }) => marker.kind === 'reply' && marker.replyTo === replyTo,
          ),
        post: () => bound.api.MergeRequestDiscussions.addNote(mr.projectId, mr.iid, discussionId, body),
      });
      if (resolve) await ensureResolved(bound, mr, discussionId);
      return ensured;
    },

    async findSession({ mr, discussionId, signal }) {
      const thread = await readIfThere(client.withSignal(signal), mr, discussionId);
      const [last] = (await onlyOurs(thread, { mr, signal })).toSorted(lastWrittenFirst);
      return last ? { sessionId: last.marker.sessionId, noteId: last.noteId } : null;
    },

    async readReply({ mr, discussionId, noteId, signal }) {
      const thread = await readIfThere(client.withSignal(signal), mr, discussionId);
      const note = thread.find((one) => one.noteId === noteId && !one.isSystem);
      if (!note) return null;
      const { body, authorId, authorUsername, createdAt } = note;
      return { body, authorId, authorUsername, createdAt };
    },
  };
}

function writesOf({ api }: GitlabClient, { projectId, iid }: MrRef, body: string) {
  return {
    body,
    edit: (noteId: number) => api.MergeRequestNotes.edit(projectId, iid, noteId, { body }),
    remove: (noteId: number) => api.MergeRequestNotes.remove(projectId, iid, noteId),
  };
}

async function ensureResolved(client: GitlabClient, mr: MrRef, discussionId: string): Promise<void> {
  const isResolved = async () =>
    (await readThread(client, mr, discussionId)).every((note) => note.isResolved !== false);
  if (await isResolved()) return;
  await settle(
    () => client.api.MergeRequestDiscussions.resolve(mr.projectId, mr.iid, discussionId, true),
    isResolved,
  );
}

async function readIfThere(client: GitlabClient, mr: MrRef, discussionId: string): Promise<ThreadNote[]> {
  try {
    return await readThread(client, mr, discussionId);
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

/** By the last edit: a new analysis goes into the old note and leaves the replies below it as they are. */
function lastWrittenFirst(a: ThreadNote, b: ThreadNote): number {
  return Date.parse(b.updatedAt) - Date.parse(a.updatedAt) || b.noteId - a.noteId;
}
