// From the model's last word to the note: checked, composed, and with its session saved if that can be done in time.
import type { Logger } from 'pino';
import { toTimeReason } from '../agent/budget.ts';
import type { LoopResult } from '../agent/loop.ts';
import type { AssistantMessage, Message } from '../agent/messages.ts';
import { NO_USAGE } from '../agent/model.ts';
import { orAfter } from '../deadline.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { SessionMeta } from '../session/session-store.ts';
import type { createCanaryGuard } from './canary.ts';
import type { EvidenceCheck } from './check-evidence.ts';
import { composeNote, withUnsavedNotice } from './note-text.ts';
import { hasNotice, SESSION_LOST } from './notices.ts';
import { findAnswer } from './open-conversation.ts';
import type { RunTime } from './run-time.ts';
import { saveLast } from './save-last.ts';
import { withRun } from './session-meta.ts';
import type { SessionWriter } from './session-writer.ts';
import type { Spool } from './spool.ts';

export interface Findings extends LoopResult {
  /** What is to be published. */
  note: string;
  /**
   * The same once the session is saved, or kept for later, which may go on after the note is wanted; it then says if
   * neither could be done. Nobody else may work on the session before.
   */
  settled: Promise<string>;
  /** By an earlier run, whose note this is: nobody was asked now. */
  answeredBefore: boolean;
  costMicroUsd: number;
}

export interface RunToConclude {
  result: LoopResult;
  messages: Message[];
  /** Which question was answered. */
  noteId: number | undefined;
  meta: SessionMeta;
  writer: SessionWriter;
  time: RunTime;
  maxMinutes: number;
  costMicroUsd: number;
  gaps: readonly string[];
  guard: ReturnType<typeof createCanaryGuard>;
  evidence: EvidenceCheck;
  signal: AbortSignal;
  /** Is called when nothing of the run is needed any more, unless this throws. */
  letGo: () => Promise<void>;
}

export async function concludeRun(
  deps: { spool?: Spool | null; redactor: Redactor; log: Logger; now: () => number },
  run: RunToConclude,
): Promise<Findings> {
  const { messages, noteId, meta, writer, time, guard, costMicroUsd, letGo } = run;
  const result = withTimeOf(run);
  const text = guard.clean(result.text);
  const unchecked = { text, evidence: null };
  const checked = await orAfter(time.checkMs(), run.evidence.finish(text, messages, run.signal), unchecked);
  const note = deps.redactor.text(
    composeNote({
      ...result,
      ...checked,
      hasWithheld: guard.hasWithheld(),
      costMicroUsd,
      sessionId: meta.sessionId,
      isSessionLost: hasNotice(messages, SESSION_LOST, noteId),
      gaps: run.gaps,
    }),
  );
  const last = findAnswer(messages, noteId);
  if (last) last.published = note;
  const saving = saveLast(deps, writer, messages, withRun(meta, { ...result, costMicroUsd }, deps.now()));
  const toText = (isSaved: boolean): string => (isSaved ? note : withUnsavedNotice(note));
  const isSaved = await orAfter(time.savingMs(), saving, true);
  const settled = saving.then(toText).finally(letGo);
  // Whoever waits for it hears of it.
  settled.catch(() => undefined);
  // A vendor's own words may be part of it.
  const reason = deps.redactor.text(result.reason);
  return { ...result, reason, costMicroUsd, note: toText(isSaved), settled, answeredBefore: false };
}

export function alreadyAnswered({ content, published = content }: AssistantMessage): Findings {
  return {
    text: content,
    note: published,
    settled: Promise.resolve(published),
    answeredBefore: true,
    ending: 'answered',
    reason: 'it was answered before',
    usage: NO_USAGE,
    costMicroUsd: 0,
    iterations: 0,
    models: [],
  };
}

/** The loop has had a part of the time only, which is nobody's business. */
function withTimeOf({ result, maxMinutes }: RunToConclude): LoopResult {
  return result.ending === 'time' ? { ...result, reason: toTimeReason(maxMinutes * 60_000) } : result;
}
