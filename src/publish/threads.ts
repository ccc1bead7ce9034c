// Reading a merge request's threads: who wrote what where, and which notes are the agent's own.
import { PermanentError } from '../errors.ts';
import type { GitlabClient } from '../gitlab/client.ts';
import type { AgentAccount } from './agent-account.ts';
import type { Marker, Markers } from './marker.ts';

export interface MrRef {
  projectId: number;
  iid: number;
}

export interface ThreadNote {
  noteId: number;
  discussionId: string;
  body: string;
  authorId: number;
  authorUsername: string;
  createdAt: string;
  updatedAt: string;
  /** Written by GitLab itself, such as "closed". */
  isSystem: boolean;
  /** Not for everyone who sees the merge request. */
  isInternal: boolean;
  /** `null`: there is nothing to resolve. */
  isResolved: boolean | null;
}

export interface MarkedNote extends ThreadNote {
  marker: Marker;
}

/** Every note of the merge request. Only this list tells a note's thread, the one of notes does not. */
export async function readThreads({ api }: GitlabClient, mr: MrRef): Promise<ThreadNote[]> {
  const threads = await api.MergeRequestDiscussions.all(mr.projectId, mr.iid, {
    perPage: PER_PAGE,
    maxPages: MAX_PAGES,
  });
  if (threads.length >= PER_PAGE * MAX_PAGES) {
    throw new PermanentError(`!${mr.iid} has too many threads to look for the agent's note`);
  }
  return threads.flatMap(toNotes);
}

export async function readThread(
  { api }: GitlabClient,
  mr: MrRef,
  discussionId: string,
): Promise<ThreadNote[]> {
  return toNotes(await api.MergeRequestDiscussions.show(mr.projectId, mr.iid, discussionId));
}

/** The agent's own with a marker that is valid here; a marker in anybody else's note is only text. */
export async function onlyMarked(
  notes: readonly ThreadNote[],
  mr: MrRef,
  { agent, markers, signal }: { agent: AgentAccount; markers: Markers; signal: AbortSignal | undefined },
): Promise<MarkedNote[]> {
  const { id } = await agent.get(signal);
  const place = { projectId: mr.projectId, mrIid: mr.iid };
  return notes.flatMap((note) => {
    const marker = note.authorId === id && !note.isSystem ? markers.read(note.body, place) : null;
    return marker ? [{ ...note, marker }] : [];
  });
}

const PER_PAGE = 100;
const MAX_PAGES = 100;

interface Discussion {
  id: string;
  notes?: WireNote[];
}

interface WireNote {
  id: number;
  body: string;
  author: { id: number; username: string };
  created_at: string;
  updated_at: string;
  system: boolean;
  internal?: unknown;
  confidential?: unknown;
  resolvable: boolean;
  /** Missing in notes that can not be resolved. */
  resolved?: unknown;
}

function toNotes({ id: discussionId, notes = [] }: Discussion): ThreadNote[] {
  return notes.map((note) => ({
    noteId: note.id,
    discussionId,
    body: note.body,
    authorId: note.author.id,
    authorUsername: note.author.username,
    createdAt: note.created_at,
    updatedAt: note.updated_at,
    isSystem: note.system,
    isInternal: note.internal === true || note.confidential === true,
    isResolved: note.resolvable ? note.resolved === true : null,
  }));
}
