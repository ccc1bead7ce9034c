// One run of the agent on a session: restore, sandbox, loop, save.
import type { Logger } from 'pino';
import { createCompaction } from '../agent/compaction.ts';
import type { AgentEvent } from '../agent/events.ts';
import { createGate } from '../agent/gate.ts';
import { type LoopResult, runLoop } from '../agent/loop.ts';
import type { AssistantMessage, Message, UserMessage } from '../agent/messages.ts';
import { type Model, NO_USAGE } from '../agent/model.ts';
import { composeSystemPrompt } from '../agent/prompts.ts';
import { createRepeatGuard } from '../agent/repeats.ts';
import type { Toolbox } from '../agent/toolbox.ts';
import type { ProjectRef } from '../queue/job.ts';
import type { Sandbox, SandboxProvider } from '../sandbox/sandbox.ts';
import {
  type Session,
  SessionCorruptError,
  type SessionMeta,
  type SessionStore,
} from '../session/session-store.ts';
import type { MergeRequest } from '../sources/gitlab/merge-requests.ts';
import { createKeepFile } from './keep-file.ts';
import { composeNote } from './note-text.ts';

export interface Investigation {
  sessionId: string;
  project: ProjectRef;
  mr: MergeRequest;
  workflow: WorkflowText;
  /** What a person asks; null for the analysis itself. */
  question: { noteId: number; text: string } | null;
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
}

export interface InvestigationDependencies {
  /** New for each run: a model remembers what of the conversation was cached, and to whom it fell back. */
  openModel: (run: ModelRun) => Model;
  /** For summaries and judgements; null when none can be used. */
  openSideModel: (run: ModelRun) => Model | null;
  store: SessionStore;
  sandboxes: SandboxProvider;
  createToolbox: (sandbox: Sandbox, mr: MergeRequest) => Toolbox;
  log: Logger;
  now: () => number;
}

/** On whose account the model is asked. */
export interface ModelRun {
  runId: string;
  project: ProjectRef;
  mrIid: number;
}

export interface Findings extends LoopResult {
  /** What is to be published. */
  note: string;
}

/** What survives in the archive of a session. */
const KEPT_FOLDERS = ['/tmp/_out', '/tmp/data'];

export async function investigate(
  deps: InvestigationDependencies,
  investigation: Investigation,
  { signal, onEvent }: { signal: AbortSignal; onEvent: (event: AgentEvent) => void },
): Promise<Findings> {
  const { store, log } = deps;
  const { sessionId, workflow, question, project, mr, runId } = investigation;
  const session = await loadSession(deps, sessionId);
  const messages = toMessages(session, investigation);
  const answer = findAnswer(messages, question?.noteId);
  if (answer) return alreadyAnswered(answer);

  const sandbox = await deps.sandboxes.create();
  try {
    await restoreFiles(sandbox, session, log);
    const toolbox = deps.createToolbox(sandbox, mr);
    await store.saveContext(sessionId, { version: 1, messages });
    const run = { runId, project, mrIid: mr.iid };
    const side = deps.openSideModel(run);
    const compaction = createCompaction({
      contextLimit: workflow.contextLimit,
      ratio: workflow.compactAt,
      side,
      keepFile: createKeepFile(sandbox),
      archive: (cut) => store.saveHistory(sessionId, cut),
    });
    const gate = createGate({ judge: workflow.gate === 'judge' ? side : null });
    const loop = runLoop({
      model: deps.openModel(run),
      toolbox,
      system: composeSystemPrompt({
        toolNotes: toolbox.notes,
        workflow: workflow.prompt,
        // Without a history there is nothing to continue.
        isContinuation: question !== null && session !== null,
      }),
      messages,
      maxIterations: workflow.maxIterations,
      contextLimit: workflow.contextLimit,
      maxOutputTokens: workflow.maxOutputTokens,
      maxDurationMs: workflow.maxMinutes * 60_000,
      ...(workflow.compactAt > 0 && { compaction }),
      hooks: [createRepeatGuard(), ...(workflow.gate === 'off' ? [] : [gate])],
      checkpoint: (all) => store.saveContext(sessionId, { version: 1, messages: [...all] }),
      signal,
    });
    const result = await watch(
      loop,
      async (event) => {
        if (event.type === 'retry' || event.type === 'fallback') log.warn(event, 'the model failed');
        await store.appendTranscript(sessionId, { at: new Date(deps.now()).toISOString(), ...event });
        onEvent(event);
      },
      log,
    );
    await store.saveArchive(sessionId, sandbox.archive(KEPT_FOLDERS));
    const isSessionLost = investigation.resumes && session === null;
    const findings = {
      ...result,
      note: composeNote({ ...result, sessionId, isSessionLost, gaps: toolbox.gaps() }),
    };
    const last = findAnswer(messages, question?.noteId);
    if (last) last.published = findings.note;
    await store.saveContext(sessionId, { version: 1, messages });
    await store.saveMeta(sessionId, toMeta(deps, investigation, session, findings));
    return findings;
  } finally {
    await sandbox.close();
  }
}

/** A session that can not be read is as good as none, but it is not hidden. */
async function loadSession({ store, log }: InvestigationDependencies, id: string): Promise<Session | null> {
  try {
    return await store.load(id);
  } catch (error) {
    if (!(error instanceof SessionCorruptError)) throw error;
    log.error({ err: error, session: id }, 'session can not be used, set aside and started afresh');
    await store.setAside(id);
    return null;
  }
}

function toMessages(session: Session | null, { project, mr, sessionId, question }: Investigation): Message[] {
  const event = { project: project.path, iid: mr.iid, sha: mr.sha, session_id: sessionId };
  const messages: Message[] = session?.context.messages ?? [{ role: 'user', content: JSON.stringify(event) }];
  if (!question) return messages;
  // Asked before and neither answered nor the last thing asked: something else came between, so it is asked again.
  const lastAsked = messages.findLast(isQuestion);
  const isOpen = lastAsked?.noteId === question.noteId || findAnswer(messages, question.noteId) !== null;
  if (!isOpen) messages.push({ role: 'user', content: question.text, noteId: question.noteId });
  return messages;
}

/** The answer to this note, or to the event itself: the last word before somebody asked something else. */
function findAnswer(messages: Message[], noteId: number | undefined): AssistantMessage | null {
  const asked = messages.findLastIndex((message) => isQuestion(message) && message.noteId === noteId);
  if (asked === -1) return null;
  const following = messages.findIndex((message, index) => index > asked && isQuestion(message));
  const last = messages[(following === -1 ? messages.length : following) - 1];
  return last?.role === 'assistant' && last.toolCalls.length === 0 ? last : null;
}

function isQuestion(message: Message): message is UserMessage {
  return message.role === 'user' && !message.isSummary;
}

function alreadyAnswered({ content, published = content }: AssistantMessage): Findings {
  const reason = 'it was answered before';
  return {
    text: content,
    note: published,
    ending: 'answered',
    reason,
    usage: NO_USAGE,
    iterations: 0,
    models: [],
  };
}

async function restoreFiles(sandbox: Sandbox, session: Session | null, log: Logger): Promise<void> {
  try {
    const archive = await session?.openArchive();
    if (archive) await sandbox.restore(archive);
  } catch (error) {
    // The conversation is worth more than the files; the model finds out which are missing.
    log.error({ err: error }, 'files of the session could not be restored');
  }
}

/** Whoever watches does not change the run, not even by failing. */
async function watch<T>(
  loop: AsyncGenerator<AgentEvent, T>,
  onEvent: (event: AgentEvent) => Promise<void>,
  log: Logger,
): Promise<T> {
  while (true) {
    const next = await loop.next();
    if (next.done) return next.value;
    await onEvent(next.value).catch((error) => log.warn({ err: error }, 'an event was not recorded'));
  }
}

function toMeta(
  { now }: InvestigationDependencies,
  { sessionId, project, mr, workflow }: Investigation,
  session: Session | null,
  findings: Findings,
): SessionMeta {
  const updatedAt = new Date(now()).toISOString();
  return {
    version: 1,
    sessionId,
    projectId: project.id,
    projectPath: project.path,
    mrIid: mr.iid,
    sha: mr.sha,
    workflow: workflow.name,
    model: findings.models.at(-1) ?? session?.meta?.model ?? '',
    createdAt: session?.meta?.createdAt ?? updatedAt,
    updatedAt,
    ending: findings.ending,
    runs: (session?.meta?.runs ?? 0) + 1,
  };
}
