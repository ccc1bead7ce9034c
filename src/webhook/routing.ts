import { toEventKey } from '../queue/event-key.ts';
import type { Job, ProjectRef } from '../queue/job.ts';

export type Routing =
  /** `eventKey` names what happened, so that hearing of it twice does not make it happen twice. */
  { kind: 'job'; job: Job; eventKey: string } | { kind: 'ignored'; reason: string };

export interface RouteContext {
  /** The account the agent writes with; null until GitLab could be asked. The worker checks again. */
  agent: { id: number; username: string } | null;
  isAllowed(project: ProjectRef): boolean;
  /** Ids and usernames of other bots. */
  ignoreUsers: readonly (number | string)[];
}

export function take(job: Job, ...happening: (string | number | null | undefined)[]): Routing {
  return { kind: 'job', job, eventKey: toEventKey(job, ...happening) };
}

export function ignore(reason: string): Routing {
  return { kind: 'ignored', reason };
}

/** Access tokens act as users such as project_12_bot_1f3a; other bots go by similar names or are configured. */
const BOT_NAME = /(?:^|[-_.])bot(?:[-_]?[0-9a-f]{1,64})?$|\[bot\]$/i;

/** Why nothing this user does is answered, or null for a person. */
export function whyNotAnswered(user: { id: number; username: string }, context: RouteContext): string | null {
  if (user.id === context.agent?.id) return "it is the agent's own doing";
  if (context.ignoreUsers.includes(user.id) || context.ignoreUsers.includes(user.username))
    return `user ${user.username} is configured to be ignored`;
  if (BOT_NAME.test(user.username)) return `${user.username} is a bot`;
  return null;
}
