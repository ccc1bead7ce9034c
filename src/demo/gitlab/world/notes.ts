import type { MergeRequest, MergeRequestRef, Note, User } from '../model.ts';
import { toNoteHook } from '../payloads/note.ts';
import { extractQuickActions } from '../quick-actions.ts';
import { findClosingReferences, findMentions } from '../references.ts';
import type { World } from '../state.ts';
import {
  awardsOn,
  mergeRequestById,
  mergeRequestByRef,
  noteById,
  notesOf,
  projectById,
  userById,
} from './find.ts';
import { runQuickAction } from './quick-action-effects.ts';
import { newDiscussionId } from './system-notes.ts';

export type NewNote = MergeRequestRef & {
  userId: number;
  body: string;
  /** Replies in that thread; a note that stood alone becomes one by it. */
  discussionId?: string;
  /** Starts a thread instead of a note that stands alone. */
  thread?: boolean;
  /** Makes it a comment on a line of the diff, which is a thread. */
  position?: { path: string; line: number };
  internal?: boolean;
};

/** What became of a text: a note, or, when it had only quick actions, their outcome alone. */
export type Written =
  | { kind: 'note'; note: Note; changes: Record<string, unknown> }
  | { kind: 'commands'; changes: Record<string, unknown>; summary: string[] };

export function writeNote(world: World, input: NewNote): Written {
  const mergeRequest = mergeRequestByRef(world, input);
  const author = userById(world, input.userId);
  const { body, outcome } = runQuickActions(world, mergeRequest, author, input.body);
  if (body === '') return { kind: 'commands', ...outcome };
  const at = world.now();
  const note: Note = {
    id: world.nextId('note'),
    projectId: mergeRequest.projectId,
    mergeRequestId: mergeRequest.id,
    discussionId: input.discussionId ?? newDiscussionId(),
    authorId: author.id,
    body,
    type: typeOf(input),
    position: input.position ?? null,
    system: false,
    internal: input.internal ?? false,
    createdAt: at,
    updatedAt: at,
    resolvedAt: null,
    resolvedById: null,
  };
  world.notes.set(note.id, note);
  if (input.discussionId !== undefined) turnIntoThread(world, mergeRequest, input.discussionId);
  recordReferences(world, note, { via: 'create', known: [] });
  announce(world, note, 'create');
  return { kind: 'note', note, changes: outcome.changes };
}

/** An edit that leaves only quick actions deletes the note, as in GitLab. */
export function rewriteNote(world: World, noteId: number, text: string): Written {
  const note = noteById(world, noteId);
  const mergeRequest = mergeRequestById(world, note.mergeRequestId);
  const author = userById(world, note.authorId);
  const { body, outcome } = runQuickActions(world, mergeRequest, author, text);
  if (body === '') {
    deleteNote(world, noteId);
    return { kind: 'commands', ...outcome };
  }
  if (body !== note.body) {
    const known = findMentions(note.body);
    note.body = body;
    note.updatedAt = world.now();
    recordReferences(world, note, { via: 'edit', known });
    announce(world, note, 'update');
  }
  return { kind: 'note', note, changes: outcome.changes };
}

export function deleteNote(world: World, noteId: number): void {
  for (const given of awardsOn(world, { kind: 'note', id: noteById(world, noteId).id })) {
    world.awards.delete(given.id);
  }
  world.notes.delete(noteId);
}

/** For arranging: the note itself. Text of only quick actions would leave none. */
export function addNote(world: World, input: NewNote): Note {
  const { body, actions } = extractQuickActions(input.body);
  if (body === '' && actions.length > 0) {
    throw new Error('A note of only quick actions is not saved; post it through the API to have them run.');
  }
  const written = writeNote(world, input);
  if (written.kind === 'note') return written.note;
  throw new Error('A note without text is not saved; give it a body.');
}

export function resolveDiscussion(
  world: World,
  ref: MergeRequestRef,
  discussionId: string,
  resolution: { resolved: boolean; userId: number },
): void {
  const notes = notesOf(world, mergeRequestByRef(world, ref));
  for (const note of notes.filter((one) => one.discussionId === discussionId && one.type !== null)) {
    note.resolvedAt = resolution.resolved ? (note.resolvedAt ?? world.now()) : null;
    note.resolvedById = resolution.resolved ? (note.resolvedById ?? resolution.userId) : null;
  }
}

function runQuickActions(world: World, mergeRequest: MergeRequest, author: User, text: string) {
  const { body, actions } = extractQuickActions(text);
  const outcomes = actions.map((action) => runQuickAction(world, mergeRequest, author, action));
  const changes: Record<string, unknown> = Object.assign({}, ...outcomes.map((one) => one.changes));
  return { body, outcome: { changes, summary: outcomes.map((one) => one.summary) } };
}

function typeOf({ discussionId, thread, position }: NewNote): Note['type'] {
  if (position) return 'DiffNote';
  return discussionId === undefined && !thread ? null : 'DiscussionNote';
}

function turnIntoThread(world: World, mergeRequest: MergeRequest, discussionId: string): void {
  for (const note of notesOf(world, mergeRequest)) {
    if (note.discussionId === discussionId) note.type ??= 'DiscussionNote';
  }
}

function recordReferences(
  world: World,
  note: Note,
  { via, known }: { via: 'create' | 'edit'; known: readonly string[] },
): void {
  const names = findMentions(note.body).filter((name) => !known.includes(name));
  const members = projectById(world, note.projectId).members;
  for (const user of world.users.values()) {
    const named = names.includes(user.username) || (names.includes('all') && members.has(user.id));
    if (named) world.mentions.push({ userId: user.id, byUserId: note.authorId, noteId: note.id, via });
  }
  for (const text of findClosingReferences(note.body)) {
    world.closingReferences.push({ noteId: note.id, byUserId: note.authorId, text });
  }
}

function announce(world: World, note: Note, action: 'create' | 'update'): void {
  const event = note.internal ? 'confidential_note_events' : 'note_events';
  world.announce({ projectId: note.projectId, event, payload: toNoteHook(world, note, action) });
}
