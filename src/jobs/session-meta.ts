import type { LoopResult } from '../agent/loop.ts';
import { addUsage, NO_USAGE } from '../agent/model.ts';
import type { ProjectRef } from '../queue/job.ts';
import type { Session, SessionMeta } from '../session/session-store.ts';
import type { Visibility } from '../sources/gitlab/audience.ts';
import type { MergeRequest } from '../sources/gitlab/merge-requests.ts';

export interface SessionSubject {
  sessionId: string;
  project: ProjectRef;
  mr: MergeRequest;
  workflow: { name: string };
  visibility: Visibility;
}

/** What is known of a session while a run is under way, which does not count yet. */
export function toMeta(subject: SessionSubject, session: Session | null, now: number): SessionMeta {
  const { sessionId, project, mr, workflow, visibility } = subject;
  const at = new Date(now).toISOString();
  return {
    model: '',
    createdAt: at,
    updatedAt: at,
    ending: null,
    runs: 0,
    usage: NO_USAGE,
    costMicroUsd: 0,
    leftOut: [],
    ...session?.meta,
    version: 1,
    sessionId,
    projectId: project.id,
    projectPath: project.path,
    mrIid: mr.iid,
    visibility,
    sha: mr.sha,
    workflow: workflow.name,
  };
}

/**
 * Whether the session may go on for whoever is there now. Where it was moved, or where more people look on than when it
 * began, what was said in it is not for them.
 */
export function isBoundTo(meta: SessionMeta, { project, mr, visibility }: SessionSubject): boolean {
  const isSamePlace =
    meta.projectId === project.id && meta.projectPath === project.path && meta.mrIid === mr.iid;
  return isSamePlace && WIDTHS.indexOf(visibility) <= WIDTHS.indexOf(meta.visibility ?? visibility);
}

const WIDTHS: readonly string[] = ['private', 'internal', 'public'] satisfies Visibility[];

/** The same when the run has ended. */
export function withRun(
  meta: SessionMeta,
  { models, ending, usage, costMicroUsd }: LoopResult & { costMicroUsd: number },
  now: number,
): SessionMeta {
  return {
    ...meta,
    model: models.at(-1) ?? meta.model,
    updatedAt: new Date(now).toISOString(),
    ending,
    runs: meta.runs + 1,
    usage: addUsage(meta.usage, usage),
    costMicroUsd: meta.costMicroUsd + costMicroUsd,
  };
}
