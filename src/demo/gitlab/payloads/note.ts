import { noteLink } from '../links.ts';
import type { Note } from '../model.ts';
import type { World } from '../state.ts';
import { mergeRequestById, projectById, userById } from '../world/find.ts';
import { toHookMergeRequest } from './merge-request.ts';
import {
  type Part,
  toHookProject,
  toHookRepository,
  toHookTime,
  toHookTimeOrNull,
  toHookUser,
} from './parts.ts';

export function toNoteHook(world: World, note: Note, action: 'create' | 'update'): Part {
  const project = projectById(world, note.projectId);
  return {
    object_kind: 'note',
    event_type: note.internal ? 'confidential_note' : 'note',
    user: toHookUser(world, userById(world, note.authorId)),
    project_id: project.id,
    project: toHookProject(world, project),
    object_attributes: { ...toHookNote(world, note), action },
    repository: toHookRepository(world, project),
    merge_request: toHookMergeRequest(world, mergeRequestById(world, note.mergeRequestId)),
  };
}

/** The note as it stands inside a payload: of its own hook or of an emoji's. */
export function toHookNote(world: World, note: Note): Part {
  return {
    id: note.id,
    note: note.body,
    description: note.body,
    type: note.type,
    discussion_id: note.discussionId,
    author_id: note.authorId,
    noteable_type: 'MergeRequest',
    noteable_id: note.mergeRequestId,
    project_id: note.projectId,
    system: note.system,
    internal: note.internal,
    created_at: toHookTime(note.createdAt),
    updated_at: toHookTime(note.updatedAt),
    updated_by_id: null,
    resolved_at: toHookTimeOrNull(note.resolvedAt),
    resolved_by_id: note.resolvedById,
    resolved_by_push: null,
    attachment: null,
    commit_id: null,
    line_code: null,
    position: null,
    original_position: null,
    change_position: null,
    st_diff: null,
    url: noteLink(world, note),
  };
}
