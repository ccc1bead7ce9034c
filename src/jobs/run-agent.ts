import type { AgentEvent } from '../agent/events.ts';
import { ModelError } from '../agent/model.ts';
import { RetryableError } from '../errors.ts';
import {
  type Findings,
  type Investigation,
  type InvestigationDependencies,
  investigate,
  type WorkflowText,
} from './investigate.ts';
import type { HeldJob } from './session-lock.ts';

export interface LiveEvent {
  jobId: string;
  sessionId: string;
  event: AgentEvent;
}

export interface AgentDependencies extends InvestigationDependencies {
  workflow: WorkflowText;
  /** Sees what the agent does while it does it. */
  watch: (live: LiveEvent) => void;
}

/** The agent's findings, or the reason why this job has to be taken up again later. */
export async function runAgent(
  deps: AgentDependencies,
  held: HeldJob,
  subject: Omit<Investigation, 'runId' | 'workflow'>,
): Promise<Findings> {
  const { signal, isLastAttempt } = held;
  const investigation = { ...subject, runId: held.id, workflow: deps.workflow };
  const findings = await investigate(deps, investigation, {
    signal,
    onEvent: (event) => deps.watch({ jobId: held.id, sessionId: subject.sessionId, event }),
  });
  signal.throwIfAborted();
  const { error } = findings;
  if (error === undefined) return findings;
  deps.log.error({ err: error, ending: findings.ending }, 'the agent broke off');
  // The session is continued later, instead of telling people half of it.
  if (error instanceof ModelError && error.kind === 'retry')
    throw new RetryableError(`the model is away: ${error.message}`, {
      cause: error,
      who: 'the model',
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    });
  if (!(error instanceof ModelError) && !isLastAttempt) throw error;
  return findings;
}
