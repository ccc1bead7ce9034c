import { mergeRequestLink, noteLink } from '../links.ts';
import type { Award, MergeRequest, Note } from '../model.ts';
import type { World } from '../state.ts';
import { mergeRequestById, noteById, projectById, userById } from '../world/find.ts';
import { toHookMergeRequest } from './merge-request.ts';
import { toHookNote } from './note.ts';
import { type Part, toHookProject, toHookTime, toHookUser } from './parts.ts';

export function toEmojiHook(world: World, award: Award, action: 'award' | 'revoke'): Part {
  const { note, mergeRequest } = awardedOn(world, award);
  const project = projectById(world, mergeRequest.projectId);
  return {
    object_kind: 'emoji',
    event_type: action,
    user: toHookUser(world, userById(world, award.userId)),
    project_id: project.id,
    project: toHookProject(world, project),
    object_attributes: {
      id: award.id,
      user_id: award.userId,
      name: award.name,
      awardable_type: note === null ? 'MergeRequest' : 'Note',
      awardable_id: award.target.id,
      created_at: toHookTime(award.createdAt),
      updated_at: toHookTime(award.createdAt),
      action,
      awarded_on_url: note === null ? mergeRequestLink(world, mergeRequest) : noteLink(world, note),
    },
    ...(note === null ? {} : { note: toHookNote(world, note) }),
    merge_request: toHookMergeRequest(world, mergeRequest),
  };
}

function awardedOn(world: World, award: Award): { note: Note | null; mergeRequest: MergeRequest } {
  if (award.target.kind === 'merge-request') {
    return { note: null, mergeRequest: mergeRequestById(world, award.target.id) };
  }
  const note = noteById(world, award.target.id);
  return { note, mergeRequest: mergeRequestById(world, note.mergeRequestId) };
}
