import { randomBytes } from 'node:crypto';
import type { MergeRequest, Note } from '../model.ts';
import type { World } from '../state.ts';

/** What GitLab itself writes under a merge request, such as "closed". No hook tells of it. */
export function addSystemNote(world: World, mergeRequest: MergeRequest, userId: number, body: string): Note {
  const at = world.now();
  const note: Note = {
    id: world.nextId('note'),
    projectId: mergeRequest.projectId,
    mergeRequestId: mergeRequest.id,
    discussionId: newDiscussionId(),
    authorId: userId,
    body,
    type: null,
    position: null,
    system: true,
    internal: false,
    createdAt: at,
    updatedAt: at,
    resolvedAt: null,
    resolvedById: null,
  };
  world.notes.set(note.id, note);
  return note;
}

export function newDiscussionId(): string {
  return randomBytes(20).toString('hex');
}
