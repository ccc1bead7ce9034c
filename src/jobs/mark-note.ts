// What happens to a merge request after its analysis was posted is said in the note.
import type { AgentAccount } from '../publish/agent-account.ts';
import type { MergeRequestChangedJob, PipelinePassedJob } from '../queue/job.ts';
import type { JobContext } from '../queue/queue.ts';
import { findMergeRequest } from './find-merge-request.ts';
import { findPassed, type Publishing } from './publish-analysis.ts';
import { toSessionId } from './session-id.ts';
import { holdNote } from './session-lock.ts';

export interface Marking extends Publishing {
  agent: AgentAccount;
}

/** The analysis of an earlier commit says so. */
export async function markOutdated(
  deps: Marking,
  { project, mrIid }: MergeRequestChangedJob,
  context: JobContext,
): Promise<void> {
  await holdNote(deps, { projectId: project.id, iid: mrIid }, context, async (signal) => {
    // Of several pushes the last one counts, in whichever order they are heard of.
    const mr = await deps.mergeRequests.get(project.id, mrIid, signal);
    const newest = toSessionId({ ...mr, mrIid, workflow: deps.workflow.name });
    const status = { kind: 'outdated', sha: mr.sha } as const;
    await deps.notes.markAnalysis({ mr, status, isMeant: (sessionId) => sessionId !== newest, signal });
  });
}

/** The analysis of this commit says so, once nothing of it fails any more. */
export async function markPassed(deps: Marking, job: PipelinePassedJob, context: JobContext): Promise<void> {
  const mr = await findMergeRequest(deps, job, context.signal);
  if (mr?.state !== 'opened' || (mr.sha !== job.sha && !job.isMergeResult)) return;
  const sessionId = toSessionId({ ...mr, mrIid: mr.iid, workflow: deps.workflow.name });
  await holdNote(deps, mr, context, async (signal) => {
    const note = await deps.notes.findAnalysis({ mr, signal });
    if (note?.sessionId !== sessionId) return;
    const passed = await findPassed(deps, mr, signal);
    if (!passed) return;
    const isMeant = (other: string) => other === sessionId;
    await deps.notes.markAnalysis({ mr, status: { kind: 'passed', pipeline: passed }, isMeant, signal });
  });
}
