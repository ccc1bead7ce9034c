import type { Award, AwardTarget, MergeRequestRef } from '../model.ts';
import { toEmojiHook } from '../payloads/emoji.ts';
import type { World } from '../state.ts';
import { awardsOn, mergeRequestById, mergeRequestByRef, noteById, userById } from './find.ts';

/** Undefined when the user has given that emoji already: GitLab takes each once. */
export function award(world: World, target: AwardTarget, name: string, userId: number): Award | undefined {
  userById(world, userId);
  const given = awardsOn(world, target).some((one) => one.name === name && one.userId === userId);
  if (given) return undefined;
  const created: Award = { id: world.nextId('award'), name, userId, target, createdAt: world.now() };
  world.awards.set(created.id, created);
  announce(world, created, 'award');
  return created;
}

export function revokeAward(world: World, awardId: number): void {
  const revoked = world.awards.get(awardId);
  if (revoked === undefined) return;
  world.awards.delete(awardId);
  announce(world, revoked, 'revoke');
}

/** A note by its id, or a merge request. */
export function toAwardTarget(world: World, on: number | MergeRequestRef): AwardTarget {
  if (typeof on === 'number') return { kind: 'note', id: noteById(world, on).id };
  return { kind: 'merge-request', id: mergeRequestByRef(world, on).id };
}

function announce(world: World, one: Award, action: 'award' | 'revoke'): void {
  const payload = toEmojiHook(world, one, action);
  const mergeRequestId =
    one.target.kind === 'note' ? noteById(world, one.target.id).mergeRequestId : one.target.id;
  const { projectId } = mergeRequestById(world, mergeRequestId);
  world.announce({ projectId, event: 'emoji_events', payload });
}
