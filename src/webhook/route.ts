// From an event to a job, or to the reason why there is none. Pure: everything it knows is in its arguments.
import type { z } from 'zod';
import type { ProjectRef } from '../queue/job.ts';
import { emojiHook, mergeRequestHook, noteHook, pipelineHook } from './payloads.ts';
import { routeEmoji } from './route-emoji.ts';
import { routeMergeRequest } from './route-merge-request.ts';
import { routeNote } from './route-note.ts';
import { routePipeline } from './route-pipeline.ts';
import { ignore, type RouteContext, type Routing } from './routing.ts';

/** Reasons are for people to read, however much the event has wrong. */
const MAX_PROBLEMS = 3;
const MAX_REASON = 300;

export function route(body: unknown, context: RouteContext): Routing {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return ignore('the event is not a JSON object');
  const kind = 'object_kind' in body ? body.object_kind : undefined;
  switch (kind) {
    case 'pipeline':
      return parse(pipelineHook, body, (hook) =>
        forAllowed(hook.project, context, () => routePipeline(hook, context)),
      );
    case 'merge_request':
      return parse(mergeRequestHook, body, (hook) =>
        forAllowed(hook.project, context, () => routeMergeRequest(hook)),
      );
    case 'note':
      return parse(noteHook, body, (hook) =>
        forAllowed(hook.project, context, () => routeNote(hook, context)),
      );
    case 'emoji':
      return parse(emojiHook, body, (hook) =>
        forAllowed(hook.project, context, () => routeEmoji(hook, context)),
      );
    default:
      return ignore(
        typeof kind === 'string' ? `'${shorten(kind)}' events are not used` : 'the event has no object_kind',
      );
  }
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  body: object,
  next: (hook: z.output<Schema>) => Routing,
): Routing {
  const parsed = schema.safeParse(body);
  if (parsed.success) return next(parsed.data);
  const problems = parsed.error.issues
    .slice(0, MAX_PROBLEMS)
    .map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  return ignore(`the event does not look like GitLab's: ${shorten(problems.join('; '))}`);
}

function forAllowed(
  project: { id: number; path_with_namespace: string },
  context: RouteContext,
  next: () => Routing,
): Routing {
  const ref: ProjectRef = { id: project.id, path: project.path_with_namespace };
  if (context.isAllowed(ref)) return next();
  return ignore(`project ${ref.path} is not in the configured projects`);
}

function shorten(text: string): string {
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)}…` : text;
}
