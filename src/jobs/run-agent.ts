import type { AgentEvent } from '../agent/events.ts';
import { ModelError } from '../agent/model.ts';
import { RetryableError } from '../errors.ts';
import type { Findings } from './conclude-run.ts';
import {
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

/**
 * Publishes the agent's findings, or throws the reason why this job has to be taken up again later. The session may be
 * saved afterwards; should that fail in the end, they are published once more, and say so, if that can be done.
 */
export async function runAgent<T>(
  deps: AgentDependencies,
  held: HeldJob,
  subject: Omit<Investigation, 'runId' | 'workflow'>,
  publish: (findings: Findings) => Promise<T>,
): Promise<T> {
  const { signal } = held;
  const investigation = { ...subject, runId: held.id, workflow: deps.workflow };
  const findings = await investigate(deps, investigation, {
    signal,
    onEvent: (event) => deps.watch({ jobId: held.id, sessionId: subject.sessionId, event }),
  });
  try {
    signal.throwIfAborted();
    assertPublishable(deps, held, findings);
    const published = await publish(findings);
    const note = await findings.settled;
    if (note === findings.note) return published;
    // The answer is there: that nothing more could be said does not make the job a failed one.
    return await publish({ ...findings, note }).catch((error) => {
      deps.log.warn({ err: error }, 'the note does not say that its session was not saved');
      return published;
    });
  } finally {
    // Whoever has the session next finds what was saved.
    await findings.settled.catch(() => undefined);
  }
}

function assertPublishable({ log }: AgentDependencies, { isLastAttempt }: HeldJob, findings: Findings): void {
  const { error } = findings;
  if (error === undefined) return;
  log.error({ err: error, ending: findings.ending }, 'the agent broke off');
  // The session is continued later, instead of telling people half of it.
  if (error instanceof RetryableError) throw error;
  if (error instanceof ModelError && error.kind === 'retry')
    throw new RetryableError(`the model is away: ${error.message}`, {
      cause: error,
      who: 'the model',
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    });
  if (!(error instanceof ModelError) && !isLastAttempt) throw error;
}
