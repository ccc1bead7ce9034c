import { RetryableError } from '../errors.ts';
import { type EnqueueParts, enqueueOnce, isKnownEvent } from '../queue/enqueue-once.ts';
import type { ProjectRef } from '../queue/job.ts';
import type { Projects } from '../sources/gitlab/projects.ts';
import type { WireList } from '../sources/gitlab/read-list.ts';
import { findMissed, type Missed, type MissedDependencies } from './find-missed.ts';

export interface ReconcileDependencies extends MissedDependencies {
  projects: Projects;
  /** Of the allowlist. */
  patterns: readonly string[];
  isAllowed: (project: ProjectRef) => boolean;
  enqueue: EnqueueParts;
}

export interface ReconcileOptions {
  since: Date;
  /** Only look. */
  dryRun: boolean;
  signal: AbortSignal;
  onProgress?: (words: string) => void;
}

export interface Reconciled {
  /** What was queued, or would be. */
  missed: Missed[];
  mergeRequests: number;
  /** What could not be looked at, and why: it is not known whether something was missed there. */
  gaps: string[];
}

/** Finds what no webhook told of and queues it, once; a webhook that comes late finds it known. */
export async function reconcile(deps: ReconcileDependencies, options: ReconcileOptions): Promise<Reconciled> {
  const { since, dryRun, signal, onProgress = () => undefined } = options;
  const result: Reconciled = { missed: [], mergeRequests: 0, gaps: [] };
  const attempt = async <T>(what: string, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      signal.throwIfAborted();
      const hint = error instanceof RetryableError ? '; run it again later' : '';
      result.gaps.push(`${what}: ${error instanceof Error ? error.message : error}${hint}`);
      return null;
    }
  };

  const list = async <T>(what: string, read: () => Promise<WireList<T>>): Promise<T[]> => {
    const { items, isCut } = (await attempt(what, read)) ?? { items: [], isCut: false };
    if (isCut) result.gaps.push(`${what}: there are more than the ${items.length} that were read`);
    return items;
  };

  const projects = new Map<number, ProjectRef>();
  for (const pattern of deps.patterns)
    for (const project of await list(`projects '${pattern}'`, () => deps.projects.find(pattern, signal)))
      if (deps.isAllowed(project)) projects.set(project.id, project);
  for (const project of projects.values()) {
    const what = `merge requests of ${project.path}`;
    const iids = await list(what, () => deps.projects.listActive(project, since, signal));
    onProgress(`${project.path}: ${iids.length} merge requests to look at`);
    for (const iid of iids) {
      const what = `${project.path}!${iid}`;
      const missed = await attempt(what, () => findMissed(deps, project, { iid, since, signal }));
      if (missed) result.mergeRequests += 1;
      for (const one of missed ?? [])
        if (await attempt(what, () => queue(deps, one, dryRun))) result.missed.push(one);
    }
  }
  return result;
}

/** Whether it was new. */
async function queue({ enqueue }: ReconcileDependencies, missed: Missed, dryRun: boolean): Promise<boolean> {
  const { job, eventKey } = missed;
  if (dryRun) return !(await isKnownEvent(enqueue, eventKey));
  const { status } = await enqueueOnce(enqueue, { job, eventKey, keys: [eventKey] });
  return status === 'queued' || status === 'merged';
}
