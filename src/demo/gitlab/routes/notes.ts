import type { Call, Router } from '../call.ts';
import { toNote } from '../entities/note.ts';
import type { Note } from '../model.ts';
import { paginate } from '../paging.ts';
import { createNote, noteOf, readableNotes, removeNote, updateNote } from './note-call.ts';

export function addNoteRoutes(router: Router): void {
  const notes = '/projects/:id/merge_requests/:iid/notes';

  router.get(notes, (call) => {
    const sorted = readableNotes(call).toSorted((a, b) => timeOf(call, a) - timeOf(call, b) || a.id - b.id);
    if (call.query('sort') !== 'asc') sorted.reverse();
    return paginate(call, sorted).map((note) => toNote(call.world, note));
  });

  router.get(`${notes}/:noteId`, (call) => toNote(call.world, noteOf(call)));

  router.post(notes, (call) => createNote(call, {}, (note, changes) => toNote(call.world, note, changes)));

  router.put(`${notes}/:noteId`, updateNote);

  router.delete(`${notes}/:noteId`, removeNote);
}

function timeOf(call: Call, note: Note): number {
  return (call.query('order_by') === 'updated_at' ? note.updatedAt : note.createdAt).getTime();
}
