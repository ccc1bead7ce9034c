import type { Notes } from '../publish/notes.ts';
import type { MergeRequest, MergeRequests } from '../sources/gitlab/merge-requests.ts';
import { toSessionId } from './session-id.ts';
import { type HeldJob, holdNote } from './session-lock.ts';

export interface Publishing {
  notes: Notes;
  mergeRequests: MergeRequests;
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
}

/**
 * Posts the analysis as what it is by now: current, or outdated when another commit was pushed meanwhile. That of the
 * newer commit is never replaced, and a merge request that is closed gets none. Answers why it was not posted as current.
 */
export async function publishAnalysis(
  deps: Publishing,
  { mr, sessionId, body, onlyIfNone }: NewAnalysis,
  held: Pick<HeldJob, 'id' | 'signal'>,
): Promise<string | null> {
  return holdNote(deps, mr, held, async (signal) => {
    const now = await deps.mergeRequests.get(mr.projectId, mr.iid, signal);
    if (now.state !== 'opened') return `merge request !${mr.iid} is ${now.state} by now`;
    const isCurrent = now.sha === mr.sha;
    const newest = toSessionId({ ...now, mrIid: now.iid, workflow: deps.workflow.name });
    await deps.notes.ensureAnalysis({
      mr,
      sessionId,
      body,
      status: isCurrent ? undefined : { kind: 'outdated', sha: now.sha },
      mayReplace: (there) => !onlyIfNone && (isCurrent || there !== newest),
      signal,
    });
    return isCurrent ? null : `commit ${now.sha} was pushed meanwhile`;
  });
}
