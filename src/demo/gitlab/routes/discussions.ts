import { DEVELOPER } from '../access.ts';
import { badRequest, forbidden, missing, notFound } from '../api-error.ts';
import type { Call, Router } from '../call.ts';
import { toDiscussion, toNote } from '../entities/note.ts';
import type { Note } from '../model.ts';
import { paginate } from '../paging.ts';
import { resolveDiscussion } from '../world/notes.ts';
import { createNote, noteOf, readableNotes, removeNote, updateNote } from './note-call.ts';

export function addDiscussionRoutes(router: Router): void {
  const discussions = '/projects/:id/merge_requests/:iid/discussions';

  router.get(discussions, (call) => {
    const byDiscussion = Map.groupBy(readableNotes(call), (note) => note.discussionId);
    return paginate(call, [...byDiscussion.values()]).map((notes) => toDiscussion(call.world, notes));
  });

  router.get(`${discussions}/:discussionId`, (call) => toDiscussion(call.world, threadOf(call)));

  router.post(discussions, (call) =>
    createNote(call, { thread: true }, (note) => toDiscussion(call.world, [note])),
  );

  router.put(`${discussions}/:discussionId`, (call) => {
    const notes = threadOf(call);
    if (call.field('resolved') === undefined) throw missing('resolved');
    const mergeRequest = call.mergeRequest();
    const level = call.project().members.get(call.user.id) ?? 0;
    if (level < DEVELOPER && mergeRequest.authorId !== call.user.id) throw forbidden();
    const resolution = { resolved: call.flag('resolved'), userId: call.user.id };
    resolveDiscussion(call.world, mergeRequest, call.param('discussionId'), resolution);
    return toDiscussion(call.world, notes);
  });

  router.post(`${discussions}/:discussionId/notes`, (call) => {
    if (threadOf(call)[0]?.system) throw badRequest('Discussion can not be replied to.');
    const discussionId = call.param('discussionId');
    return createNote(call, { discussionId }, (note, changes) => toNote(call.world, note, changes));
  });

  router.get(`${discussions}/:discussionId/notes/:noteId`, (call) => toNote(call.world, noteOf(call)));

  router.put(`${discussions}/:discussionId/notes/:noteId`, updateNote);

  router.delete(`${discussions}/:discussionId/notes/:noteId`, removeNote);
}

function threadOf(call: Call): Note[] {
  const id = call.param('discussionId');
  const notes = readableNotes(call).filter((note) => note.discussionId === id);
  if (notes.length === 0) throw notFound('Discussion');
  return notes;
}
