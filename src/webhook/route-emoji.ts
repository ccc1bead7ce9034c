import type { EmojiHook } from './payloads.ts';
import { ignore, type RouteContext, type Routing, take, whyNotAnswered } from './routing.ts';

const VALUES: Record<string, 'up' | 'down'> = { thumbsup: 'up', thumbsdown: 'down' };

export function routeEmoji(hook: EmojiHook, context: RouteContext): Routing {
  const { object_attributes: award, note, user } = hook;
  if (award.awardable_type !== 'Note' || note?.noteable_type !== 'MergeRequest')
    return ignore('the reaction is not on a note of a merge request');
  if (context.agent && note.author_id !== context.agent.id)
    return ignore("the reaction is not on a note of the agent's");
  const value = VALUES[award.name];
  if (!value) return ignore(`the reaction '${award.name}' is no verdict`);
  const notAnswered = whyNotAnswered(user, context);
  if (notAnswered) return ignore(notAnswered);

  const given = (award.action ?? hook.event_type) !== 'revoke';
  const job = {
    kind: 'feedback' as const,
    project: { id: hook.project.id, path: hook.project.path_with_namespace },
    mrIid: hook.merge_request?.iid ?? null,
    noteId: note.id,
    noteAuthorId: note.author_id,
    awardId: award.id,
    userId: user.id,
    value,
    given,
  };
  return take(job, award.id, given ? 'given' : 'taken back');
}
