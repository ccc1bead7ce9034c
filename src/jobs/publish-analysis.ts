import { RetryableError } from '../errors.ts';
import type { Notes } from '../publish/notes.ts';
import type { CommitFailures, HeadPipeline } from '../sources/gitlab/commit-failures.ts';
import type { MergeRequest, MergeRequests } from '../sources/gitlab/merge-requests.ts';
import { toSessionId } from './session-id.ts';
import { type HeldJob, holdNote } from './session-lock.ts';

export interface Publishing {
  notes: Notes;
  mergeRequests: MergeRequests;
  failures: CommitFailures;
  records: Parameters<typeof holdNote>[0]['records'];
  log: Parameters<typeof holdNote>[0]['log'];
  workflow: { name: string };
}

export interface NewAnalysis {
  mr: MergeRequest;
  sessionId: string;
  body: string;
  /** An earlier analysis says more than this one. */
  onlyIfNone: boolean;
  /** Sees to it that what can not be told of the commit now is looked up later, and said then. */
  askAgain?: () => Promise<unknown>;
}

/** While nobody else writes the note: see `postAnalysis`. */
export function publishAnalysis(
  deps: Publishing,
  analysis: NewAnalysis,
  held: Pick<HeldJob, 'id' | 'signal'>,
): Promise<string | null> {
  return holdNote(deps, analysis.mr, held, (signal) => postAnalysis(deps, analysis, signal));
}

/**
 * Posts the analysis as what it is by now: current; outdated when another commit was pushed meanwhile; or passed on
 * retry. That of the newer commit is never replaced, and a merge request that is closed gets none. Answers why it is not
 * current.
 */
export async function postAnalysis(
  deps: Pick<Publishing, 'notes' | 'mergeRequests' | 'failures' | 'workflow'>,
  { mr, sessionId, body, onlyIfNone, askAgain }: NewAnalysis,
  signal: AbortSignal,
): Promise<string | null> {
  const now = await deps.mergeRequests.get(mr.projectId, mr.iid, signal);
  if (now.state !== 'opened') return `merge request !${mr.iid} is ${now.state} by now`;
  const isOutdated = now.sha !== mr.sha;
  let isUnknown = false;
  const passed = isOutdated
    ? null
    : await findPassed(deps, now, signal).catch((error) => {
        if (!(error instanceof RetryableError)) throw error;
        isUnknown = true;
        return null;
      });
  const newest = toSessionId({ ...now, mrIid: now.iid, workflow: deps.workflow.name });
  await deps.notes.ensureAnalysis({
    mr,
    sessionId,
    body,
    status: isOutdated
      ? { kind: 'outdated', sha: now.sha }
      : passed
        ? { kind: 'passed', pipeline: passed }
        : undefined,
    mayReplace: (there) => !onlyIfNone && (!isOutdated || there !== newest),
    signal,
  });
  // The note did not wait for it.
  if (isUnknown) await askAgain?.();
  if (isOutdated) return `commit ${now.sha} was pushed meanwhile`;
  return passed && `pipeline ${passed.id} of the same commit has passed meanwhile`;
}

/** The pipeline after which nothing of the newest commit fails any more. */
export async function findPassed(
  { failures: commit }: Pick<Publishing, 'failures'>,
  mr: MergeRequest,
  signal: AbortSignal,
): Promise<HeadPipeline | null> {
  const { failures, pipelines } = await commit.read(mr, null, signal);
  // One that runs again has not passed yet.
  const isOver = pipelines.every(({ status }) => OVER.has(status));
  if (failures.length > 0 || !isOver) return null;
  return pipelines.find(({ status }) => status === 'success') ?? null;
}

const OVER = new Set(['success', 'skipped', 'manual', 'canceled']);
