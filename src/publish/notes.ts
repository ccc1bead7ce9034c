import { NotFoundError, PermanentError } from '../errors.ts';
import type { GitlabClient } from '../gitlab/client.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { AgentAccount } from './agent-account.ts';
import { type Ensured, ensureOne, settle } from './ensure-one.ts';
import { type Marker, type Markers, withoutMarker } from './marker.ts';
import { type NoteStatus, withStatus } from './note-status.ts';
import { makeNoteSafe } from './safe-note.ts';
import { type MrRef, onlyMarked, readThread, readThreads, type ThreadNote } from './threads.ts';

/** What the agent writes under a merge request. Every text is free of secrets and made safe before it is posted. */
export interface Notes {
  /** Afterwards the merge request has one analysis by the agent: this one, or one that it may not replace. */
  ensureAnalysis(
    analysis: NewText & {
      status?: NoteStatus | undefined;
      /** Whether one that is there may be replaced; by its session. */
      mayReplace?: (sessionId: string) => boolean;
    },
  ): Promise<Ensured>;
  /** Says on top of the analysis what became of it, if there is one and `isMeant` says so of its session. */
  markAnalysis(mark: AnalysisMark): Promise<{ noteId: number } | null>;
  /** The agent's analysis, if there is one. */
  findAnalysis(of: { mr: MrRef; signal: AbortSignal }): Promise<{ noteId: number; sessionId: string } | null>;
  /** Afterwards the thread has one answer by the agent to the note `replyTo`: this one. */
  ensureReply(
    reply: NewText & { discussionId: string; replyTo: number; resolve?: boolean },
  ): Promise<Ensured>;
  /** The session that wrote last in this thread; `null` if the agent did not write there. */
  findSession(thread: ThreadRef): Promise<{ sessionId: string; noteId: number } | null>;
  /**
   * What people wrote in the agent's threads, or in one of them, that it has not answered; oldest first. In those of
   * others too, if it is a call.
   */
  listUnanswered(of: {
    mr: MrRef;
    discussionId?: string;
    isCall?: (body: string) => boolean;
    signal: AbortSignal;
  }): Promise<UnansweredNote[]>;
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

export interface AnalysisMark {
  mr: MrRef;
  status: NoteStatus;
  isMeant: (sessionId: string) => boolean;
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

export interface UnansweredNote {
  noteId: number;
  discussionId: string;
  authorId: number;
  authorUsername: string;
  createdAt: string;
  body: string;
}

export interface NotesParts {
  client: GitlabClient;
  agent: AgentAccount;
  markers: Markers;
  /** Where links may lead: `host`, `host:port` or `*.domain`. */
  linkHosts: readonly string[];
  redactor: Redactor;
  /** Of the text, without its marker. */
  maxBytes?: number;
}

export function createNotes(parts: NotesParts): Notes {
  const { client, agent, markers, linkHosts, redactor, maxBytes } = parts;
  const bindTo = (signal?: AbortSignal) => (signal ? client.withSignal(signal) : client);
  const onlyOurs = (notes: ThreadNote[], mr: MrRef, signal?: AbortSignal) =>
    onlyMarked(notes, mr, { agent, markers, signal });

  const sign = (text: string, mr: MrRef, marker: Marker): string =>
    `${text}\n\n${markers.write({ ...marker, projectId: mr.projectId, mrIid: mr.iid })}`;

  const toText = ({ body, allowMentions = [] }: NewText, status?: NoteStatus): string => {
    const text = makeNoteSafe(body, { redact: redactor.text, allowMentions, linkHosts, maxBytes });
    if (status) return withStatus(text, status);
    if (text === '') throw new PermanentError('There is no text to post');
    return text;
  };

  /** Whatever their session: a later run takes over the note of an earlier one. */
  const findAnalyses = async (mr: MrRef, signal?: AbortSignal) =>
    (await onlyOurs(await readThreads(bindTo(signal), mr), mr, signal)).filter(
      ({ marker }) => marker.kind === 'analysis',
    );

  return {
    async ensureAnalysis(analysis) {
      const { mr, sessionId, status, mayReplace = () => true, signal } = analysis;
      const bound = client.withSignal(signal);
      const body = sign(toText(analysis, status), mr, { kind: 'analysis', sessionId });
      return ensureOne({
        ...writesOf(client, mr, body, signal),
        find: (until) => findAnalyses(mr, until),
        post: () => bound.api.MergeRequestNotes.create(mr.projectId, mr.iid, body),
        mayReplace: ({ marker }) => mayReplace(marker.sessionId),
      });
    },

    async markAnalysis({ mr, status, isMeant, signal }) {
      const [note] = (await findAnalyses(mr, signal)).toSorted((a, b) => a.noteId - b.noteId);
      if (!note || !isMeant(note.marker.sessionId)) return null;
      const body = sign(withStatus(withoutMarker(note.body), status), mr, note.marker);
      const find = (until?: AbortSignal) => findAnalyses(mr, until);
      await ensureOne({ ...writesOf(client, mr, body, signal), find, post: async () => undefined });
      return { noteId: note.noteId };
    },

    async findAnalysis({ mr, signal }) {
      const [note] = (await findAnalyses(mr, signal)).toSorted((a, b) => a.noteId - b.noteId);
      return note ? { noteId: note.noteId, sessionId: note.marker.sessionId } : null;
    },

    async ensureReply(reply) {
      const { mr, discussionId, sessionId, replyTo, resolve = false, signal } = reply;
      const bound = client.withSignal(signal);
      const body = sign(toText(reply), mr, { kind: 'reply', sessionId, replyTo });
      const ensured = await ensureOne({
        ...writesOf(client, mr, body, signal),
        find: async (until) =>
          (await onlyOurs(await readThread(bindTo(until), mr, discussionId), mr, until)).filter(
            ({ marker }) => marker.kind === 'reply' && marker.replyTo === replyTo,
          ),
        post: () => bound.api.MergeRequestDiscussions.addNote(mr.projectId, mr.iid, discussionId, body),
      });
      if (resolve) await ensureResolved(bound, mr, discussionId);
      return ensured;
    },

    async findSession({ mr, discussionId, signal }) {
      const thread = await readIfThere(client.withSignal(signal), mr, discussionId);
      const [last] = (await onlyOurs(thread, mr, signal)).toSorted(lastWrittenFirst);
      return last ? { sessionId: last.marker.sessionId, noteId: last.noteId } : null;
    },

    async listUnanswered({ mr, discussionId, isCall = () => false, signal }) {
      const bound = client.withSignal(signal);
      const notes = discussionId ? await readIfThere(bound, mr, discussionId) : await readThreads(bound, mr);
      const { id: agentId } = await agent.get(signal);
      const ours = await onlyOurs(notes, mr, signal);
      const firstOf = new Map(ours.toReversed().map((note) => [note.discussionId, note.noteId]));
      const answered = new Set(ours.map(({ marker }) => (marker.kind === 'reply' ? marker.replyTo : null)));
      return notes
        .filter((note) => note.authorId !== agentId && !note.isSystem && !note.isInternal)
        .filter(
          (note) =>
            note.noteId > (firstOf.get(note.discussionId) ?? Number.POSITIVE_INFINITY) || isCall(note.body),
        )
        .filter((note) => !answered.has(note.noteId))
        .toSorted((a, b) => a.noteId - b.noteId);
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

function writesOf(client: GitlabClient, { projectId, iid }: MrRef, body: string, signal: AbortSignal) {
  const bound = client.withSignal(signal);
  return {
    body,
    signal,
    edit: (noteId: number) => bound.api.MergeRequestNotes.edit(projectId, iid, noteId, { body }),
    remove: (noteId: number) => client.api.MergeRequestNotes.remove(projectId, iid, noteId),
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
