// What the routes for notes and for discussions share.
import { REPORTER } from '../access.ts';
import { badRequest, forbidden, notFound } from '../api-error.ts';
import type { Call } from '../call.ts';
import { toNote } from '../entities/note.ts';
import type { Note } from '../model.ts';
import { notesOf } from '../world/find.ts';
import { deleteNote, type NewNote, rewriteNote, type Written, writeNote } from '../world/notes.ts';

/** The merge request's notes that the caller may see, oldest first. */
export function readableNotes(call: Call): Note[] {
  const mergeRequest = call.mergeRequest();
  const trusted = (call.project().members.get(call.user.id) ?? 0) >= REPORTER;
  return notesOf(call.world, mergeRequest).filter((note) => trusted || !note.internal);
}

export function noteOf(call: Call): Note {
  const id = call.numberParam('noteId');
  const note = readableNotes(call).find((one) => one.id === id);
  if (note === undefined) throw notFound();
  return note;
}

/** Saves the text of the request as a note, or answers with what its quick actions did. */
export function createNote(
  call: Call,
  options: Pick<NewNote, 'thread' | 'discussionId'>,
  present: (note: Note, changes: Record<string, unknown>) => unknown,
): unknown {
  const { projectId, iid } = call.mergeRequest();
  const internal = call.flag('internal') || call.flag('confidential');
  if (internal && (call.project().members.get(call.user.id) ?? 0) < REPORTER) throw forbidden();
  const body = readBody(call);
  const written = writeNote(call.world, { projectId, iid, userId: call.user.id, body, internal, ...options });
  return written.kind === 'note' ? present(written.note, written.changes) : answerCommands(call, written);
}

export function updateNote(call: Call): unknown {
  const note = ownNote(call);
  const written = rewriteNote(call.world, note.id, readBody(call));
  if (written.kind === 'commands') return answerCommands(call, written);
  return toNote(call.world, written.note, written.changes);
}

export function removeNote(call: Call): unknown {
  deleteNote(call.world, ownNote(call).id);
  return call.reply.code(204).send();
}

function ownNote(call: Call): Note {
  const note = noteOf(call);
  if (note.authorId !== call.user.id || note.system) throw forbidden();
  return note;
}

function readBody(call: Call): string {
  const body = call.requiredField('body');
  if (body.trim() === '') throw badRequest(`Note {:note=>["can't be blank"]}`);
  if (body.length > MAX_LENGTH) {
    throw badRequest(`Note {:note=>["is too long (maximum is ${MAX_LENGTH} characters)"]}`);
  }
  return body;
}

const MAX_LENGTH = 1_000_000;

function answerCommands(call: Call, written: Extract<Written, { kind: 'commands' }>): unknown {
  return call.reply
    .code(202)
    .send({ commands_changes: written.changes, summary: [written.summary.join(' ')] });
}
