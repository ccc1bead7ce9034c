// One run of the agent on a session: restore, sandbox, loop, save.
import type { Logger } from 'pino';
import { createCompaction } from '../agent/compaction.ts';
import type { AgentEvent } from '../agent/events.ts';
import { createGate } from '../agent/gate.ts';
import type { Ledger } from '../agent/ledger.ts';
import { runLoop } from '../agent/loop.ts';
import type { Model } from '../agent/model.ts';
import { composeSystemPrompt } from '../agent/prompts.ts';
import { createRepeatGuard } from '../agent/repeats.ts';
import type { Toolbox } from '../agent/toolbox.ts';
import { orAfter, withDeadline } from '../deadline.ts';
import type { ProjectRef } from '../queue/job.ts';
import { NotYet, StopRequest } from '../queue/queue.ts';
import { RedactionError, type Redactor } from '../redact/redactor.ts';
import type { Sandbox, SandboxProvider } from '../sandbox/sandbox.ts';
import { type SessionStore, SessionTakenError } from '../session/session-store.ts';
import type { Visibility } from '../sources/gitlab/audience.ts';
import type { Failure } from '../sources/gitlab/commit-failures.ts';
import type { MergeRequest } from '../sources/gitlab/merge-requests.ts';
import type { FindOwnJobs } from '../sources/gitlab/own-jobs.ts';
import { createCanaries, type createCanaryGuard, placeCanary } from './canary.ts';
import type { createEvidenceCheck } from './check-evidence.ts';
import { alreadyAnswered, concludeRun, type Findings } from './conclude-run.ts';
import { createKeepFile } from './keep-file.ts';
import type { ModelRun } from './ledger.ts';
import { findAnswer, openConversation } from './open-conversation.ts';
import { restoreFiles } from './restore-files.ts';
import { startRunTime } from './run-time.ts';
import { throwNotYet } from './save-last.ts';
import { openSessionFiles } from './session-files.ts';
import { toMeta } from './session-meta.ts';
import { createSessionWriter } from './session-writer.ts';
import type { Spool } from './spool.ts';
import { toEvent } from './tell-of-failures.ts';

export interface Investigation {
  sessionId: string;
  project: ProjectRef;
  mr: MergeRequest;
  workflow: WorkflowText;
  /** Who can see the project now. */
  visibility: Visibility;
  /** What a person asks; null for the analysis itself. */
  question: { noteId: number; text: string } | null;
  /** What has failed by now, for the analysis itself. */
  failures: readonly Failure[];
  /** There was a session before, so there should be one now. */
  resumes: boolean;
  /** The same for every try at the same work. */
  runId: string;
}

export interface WorkflowText {
  name: string;
  on: readonly string[];
  prompt: string;
  maxIterations: number;
  contextLimit: number;
  maxOutputTokens: number;
  maxMinutes: number;
  compactAt: number;
  gate: 'off' | 'checks' | 'judge';
  /** Folders of the sandbox that are kept with the session, beside the usual ones. */
  keep: readonly string[];
}

export interface InvestigationDependencies {
  openLedger: (run: ModelRun) => Ledger;
  /** New for each run: a model remembers what of the conversation was cached, and to whom it fell back. */
  openModel: (ledger: Ledger) => Model;
  /** For summaries and judgements; null when none can be used. */
  openSideModel: (ledger: Ledger) => Model | null;
  /** For short questions of people, if another one is to answer them. */
  openShortReplyModel?: (ledger: Ledger) => Model;
  store: SessionStore;
  redactor: Redactor;
  /** Where a session is kept that could not be saved at the end of a run; null when there is no such place. */
  spool?: Spool | null;
  sandboxes: SandboxProvider;
  /** Of the files that are kept with a session. */
  keepBytes: number;
  createToolbox: (sandbox: Sandbox, mr: MergeRequest, project: ProjectRef) => Toolbox;
  createFindOwnJobs: (mr: MergeRequest) => FindOwnJobs;
  /** Makes the marks by which repeated prompts and files of the sandbox are known. */
  canaryKey: Buffer;
  /** What every answer has to pass before it is published. */
  guards: { createCanaryGuard: typeof createCanaryGuard; createEvidenceCheck: typeof createEvidenceCheck };
  log: Logger;
  now: () => number;
}

const SHORT_QUESTION_CHARS = 80;
/** What of the transcript is not written by then is written afterwards, or lost: nobody waits for that. */
const FLUSH_MS = 5_000;

export async function investigate(
  deps: InvestigationDependencies,
  investigation: Investigation,
  { signal, onEvent }: { signal: AbortSignal; onEvent: (event: AgentEvent) => void },
): Promise<Findings> {
  const { store, redactor, log } = deps;
  const time = startRunTime(investigation.workflow.maxMinutes * 60_000);
  const { sessionId, workflow, project, mr, runId } = investigation;
  const question = redactor.value(investigation.question);
  const noteId = question?.noteId;
  const event = toEvent(investigation, question ? null : investigation.failures);
  const asked = { ...investigation, question, event: redactor.value(event) };
  const { session, messages, isContinuation } = await openConversation(deps, asked);
  const answer = findAnswer(messages, noteId);
  if (answer) return alreadyAnswered(answer);

  const openLastSaved = async () => openSessionFiles(await store.load(sessionId));
  const sandbox = await deps.sandboxes.create({ sessionId, jobId: runId, openLastSaved });
  const letGo = async (): Promise<void> => {
    await withDeadline(FLUSH_MS, 'writing the transcript', store.flush(sessionId)).catch((error) =>
      log.warn({ err: error }, 'the transcript was not saved to its end'),
    );
    await sandbox.close();
  };
  try {
    const isRestored = await restoreFiles({ sandbox, session, messages, noteId, log });
    const canaries = createCanaries(deps.canaryKey, sessionId);
    await placeCanary(sandbox, canaries);
    const guard = deps.guards.createCanaryGuard(canaries, log);
    const meta = toMeta(investigation, session, deps.now());
    const writer = createSessionWriter({
      ...deps,
      sandbox,
      session,
      meta,
      folders: workflow.keep,
      isRestored,
    });
    const toolbox = deps.createToolbox(sandbox, mr, project);
    const ledger = deps.openLedger({ runId, project, mrIid: mr.iid });
    await writer.begin(messages).catch(throwNotYet);
    const side = deps.openSideModel(ledger);
    const compaction = createCompaction({
      contextLimit: workflow.contextLimit,
      ratio: workflow.compactAt,
      side,
      keepFile: createKeepFile(sandbox),
      archive: async (messages) => {
        throwIfTakenOver(signal);
        await store.saveHistory(sessionId, messages);
      },
    });
    const findOwnJobs = deps.createFindOwnJobs(mr);
    const evidence = deps.guards.createEvidenceCheck({ sandbox, findOwnJobs, log });
    const gate = createGate({ judge: workflow.gate === 'judge' ? side : null });
    const loop = runLoop({
      model: openModelFor(deps, question?.text)(ledger),
      toolbox,
      system: composeSystemPrompt({
        toolNotes: toolbox.notes,
        workflow: workflow.prompt,
        isContinuation,
        mark: canaries.prompt,
      }),
      messages,
      maxIterations: workflow.maxIterations,
      contextLimit: workflow.contextLimit,
      maxOutputTokens: workflow.maxOutputTokens,
      maxDurationMs: time.loopMs(),
      ...(workflow.compactAt > 0 && { compaction }),
      hooks: [guard.hook, createRepeatGuard(), ...(workflow.gate === 'off' ? [] : [gate, evidence.hook])],
      checkpoint: async (all) => {
        throwIfTakenOver(signal);
        const saving = writer.checkpoint(all);
        if (!findAnswer([...all], noteId)) return saving;
        // It is saved once more when the run has ended, which now it has.
        await orAfter(time.savingMs(), saving, undefined).catch((error) => {
          if (error instanceof SessionTakenError) throw error;
          log.warn({ err: error, session: sessionId }, 'an answer could not be saved yet');
        });
      },
      signal,
    });
    const result = await watch(
      loop,
      (said) => {
        const event = redactor.value(said);
        if (event.type === 'retry' || event.type === 'fallback') log.warn(event, 'the model failed');
        onEvent(event);
        const spent = 'usage' in event && { spentMicroUsd: ledger.spentMicroUsd() };
        const at = new Date(deps.now()).toISOString();
        // In the order of the calls, and before the run is let go; nothing waits for it.
        store
          .appendTranscript(sessionId, { at, ...event, ...spent })
          .catch((error) => log.warn({ err: error }, 'an event was not recorded'));
      },
      log,
    );
    // Whatever else could be told, it might hold what must not be.
    if (result.error instanceof RedactionError) throw result.error;
    throwIfTakenOver(signal);
    if (result.error instanceof SessionTakenError) throwNotYet(result.error);
    return await concludeRun(deps, {
      result,
      messages,
      noteId,
      meta,
      writer,
      time,
      maxMinutes: workflow.maxMinutes,
      costMicroUsd: ledger.spentMicroUsd(),
      gaps: toolbox.gaps(),
      guard,
      evidence,
      signal,
      letGo,
    });
  } catch (error) {
    await letGo();
    throw error;
  }
}

/** Somebody else works on the session by now: what they save must not be written over. */
function throwIfTakenOver({ reason }: AbortSignal): void {
  const isTakenOver =
    reason instanceof NotYet || (reason instanceof StopRequest && reason.kind === 'lock-lost');
  if (isTakenOver) throw reason;
}

function openModelFor(
  { openModel, openShortReplyModel }: InvestigationDependencies,
  question: string | undefined,
): (ledger: Ledger) => Model {
  const isShort = question !== undefined && question.trim().length <= SHORT_QUESTION_CHARS;
  return isShort ? (openShortReplyModel ?? openModel) : openModel;
}

/** Whoever watches does not change the run, not even by failing, unless secrets can not be removed. */
async function watch<T>(
  loop: AsyncGenerator<AgentEvent, T>,
  onEvent: (event: AgentEvent) => void,
  log: Logger,
): Promise<T> {
  while (true) {
    const next = await loop.next();
    if (next.done) return next.value;
    try {
      onEvent(next.value);
    } catch (error) {
      // What is under way is given up, too.
      if (error instanceof RedactionError) await loop.throw(error);
      else log.warn({ err: error }, 'an event was not recorded');
    }
  }
}
