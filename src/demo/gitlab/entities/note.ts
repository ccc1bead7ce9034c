import type { Award, Note } from '../model.ts';
import type { World } from '../state.ts';
import { headShaOf, mergeRequestById, userById } from '../world/find.ts';
import { toUserBasic, toUserOrNull } from './user.ts';

export function toNote(world: World, note: Note, changes: Record<string, unknown> = {}) {
  const resolvable = note.type !== null;
  return {
    id: note.id,
    type: note.type,
    body: note.body,
    attachment: null,
    author: toUserBasic(world, userById(world, note.authorId)),
    created_at: note.createdAt.toISOString(),
    updated_at: note.updatedAt.toISOString(),
    system: note.system,
    noteable_id: note.mergeRequestId,
    noteable_type: 'MergeRequest',
    project_id: note.projectId,
    ...(note.position ? toPosition(world, note, note.position) : {}),
    resolvable,
    ...(resolvable ? toResolution(world, note) : {}),
    confidential: note.internal,
    internal: note.internal,
    imported: false,
    imported_from: 'none',
    noteable_iid: mergeRequestById(world, note.mergeRequestId).iid,
    commands_changes: changes,
  };
}

/** The notes of one thread, or a single note that stands alone. */
export function toDiscussion(world: World, notes: readonly Note[]) {
  return {
    id: notes[0]?.discussionId,
    individual_note: notes[0]?.type === null,
    notes: notes.map((note) => toNote(world, note)),
  };
}

export function toAward(world: World, award: Award) {
  return {
    id: award.id,
    name: award.name,
    user: toUserBasic(world, userById(world, award.userId)),
    created_at: award.createdAt.toISOString(),
    updated_at: award.createdAt.toISOString(),
    awardable_id: award.target.id,
    awardable_type: award.target.kind === 'note' ? 'Note' : 'MergeRequest',
    url: null,
  };
}

function toPosition(world: World, note: Note, { path, line }: NonNullable<Note['position']>) {
  const mergeRequest = mergeRequestById(world, note.mergeRequestId);
  const head = headShaOf(mergeRequest);
  return {
    commit_id: head,
    position: {
      base_sha: mergeRequest.baseSha,
      start_sha: mergeRequest.baseSha,
      head_sha: head,
      old_path: path,
      new_path: path,
      position_type: 'text',
      old_line: null,
      new_line: line,
    },
  };
}

function toResolution(world: World, note: Note) {
  return {
    resolved: note.resolvedAt !== null,
    resolved_by: toUserOrNull(world, note.resolvedById),
    resolved_at: note.resolvedAt?.toISOString() ?? null,
  };
}
