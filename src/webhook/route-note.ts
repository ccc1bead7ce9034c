import { mentions } from '../mentions.ts';
import { toReplyKey } from '../queue/event-key.ts';
import { isStopRequest } from '../stop-request.ts';
import type { NoteHook } from './payloads.ts';
import { ignore, type RouteContext, type Routing, take, whyNotAnswered } from './routing.ts';

export function routeNote(hook: NoteHook, context: RouteContext): Routing {
  const { object_attributes: note, merge_request: mr, user } = hook;
  if (note.noteable_type !== 'MergeRequest' || !mr)
    return ignore(`the note is not on a merge request but on: ${note.noteable_type}`);
  if (note.system) return ignore('it is a system note');
  if (!isNew(note)) return ignore('the note was edited, not written');
  if (hook.event_type === 'confidential_note' || note.internal || note.confidential)
    return ignore('the note is internal; its content is not for everyone on the merge request');
  if (mr.state !== 'opened') return ignore(`merge request !${mr.iid} is ${mr.state}`);
  const notAnswered = whyNotAnswered({ ...user, id: note.author_id ?? user.id }, context);
  if (notAnswered) return ignore(notAnswered);
  const mentioned = mentionsAgent(note.note ?? '', context);
  if (!isReply(note) && !mentioned)
    return ignore('the note neither answers in a thread nor calls the agent by name');

  const subject = {
    project: { id: hook.project.id, path: hook.project.path_with_namespace },
    mrIid: mr.iid,
    noteId: note.id,
    discussionId: note.discussion_id ?? null,
    authorId: note.author_id ?? user.id,
    mentioned,
  };
  if (isStopRequest(note.note ?? '')) return take({ kind: 'stop', ...subject }, note.id);
  const job = { kind: 'reply' as const, ...subject };
  return { kind: 'job', job, eventKey: toReplyKey(job) };
}

/** Older GitLab versions do not say what happened to the note. */
function isNew(note: NoteHook['object_attributes']): boolean {
  return note.action ? note.action === 'create' : note.created_at === note.updated_at;
}

/** A note of its own has type null; if GitLab does not tell, the worker looks at the thread. */
function isReply(note: NoteHook['object_attributes']): boolean {
  return Boolean(note.discussion_id) && (note.type === 'DiscussionNote' || note.type === undefined);
}

/** As long as the agent does not know its own name, any call may be for it; the worker looks again. */
function mentionsAgent(text: string, { agent }: RouteContext): boolean {
  return agent ? mentions(text, agent.username) : text.includes('@');
}
