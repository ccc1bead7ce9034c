// How a run ends: each way with the best text there is, a reason, and a conversation that can be resumed.
import { untilAborted } from '../deadline.ts';
import { type LastTurn, toTimeReason } from './budget.ts';
import { TimeUpError } from './clock.ts';
import type { Ending } from './events.ts';
import type { LoopResult } from './loop.ts';
import type { AssistantMessage } from './messages.ts';
import { ModelError, type ModelTurn } from './model.ts';
import { NO_FINAL_RESPONSE } from './prompts.ts';
import { hasText } from './read-turn.ts';
import type { Run } from './run.ts';

/** Whatever came of the last turn, its text is the answer, unless there was a better one. */
export async function endLast(
  run: Run,
  { ending, reason }: LastTurn,
  { message, stop }: ModelTurn,
): Promise<LoopResult> {
  const text = run.draft + message.content;
  if (!hasText(text)) return endWithout(run, ending === 'answered' ? 'empty' : ending, reason);
  if (message.toolCalls.length === 0 && stop !== 'length')
    return answer(run, run.draft === '' ? message : toAnswer(text), [ending, reason]);
  keepText(run, text);
  return answer(run, toAnswer(run.lastText), [ending, reason]);
}

export async function answer(
  run: Run,
  message: AssistantMessage,
  [ending, reason]: [Ending, string],
): Promise<LoopResult> {
  run.messages.push(message);
  run.lastText = message.content;
  try {
    await save(run);
  } catch (error) {
    // It is the answer, saved in time or not.
    if (!(error instanceof TimeUpError)) throw error;
  }
  return end(run, ending, reason);
}

/** Without a last word. The best text becomes the answer where the session does not have it: it says what people read. */
export async function endWithout(run: Run, ending: Ending, reason: string): Promise<LoopResult> {
  const isKnown = run.messages.some(({ role, content }) => role === 'assistant' && content === run.lastText);
  if (isKnown || run.lastText === '') return end(run, ending, reason);
  return answer(run, toAnswer(run.lastText), [ending, reason]);
}

/** What stands beside calls or was cut off is less than an answer that was not taken, unless it is longer. */
export function keepText(run: Run, text: string): void {
  if (hasText(text)) run.lastText = run.hasAnswered ? longer(run.lastText, text) : text;
}

export function toReason(kind: 'empty' | 'cut-call'): string {
  return kind === 'empty' ? 'the model gave no response' : 'the responses of the model were cut off';
}

export function longer(one: string, other: string): string {
  return one.length > other.length ? one : other;
}

export function toAnswer(content: string): AssistantMessage {
  return { role: 'assistant', content, toolCalls: [] };
}

/** One after the other. What hangs is not waited for beyond the time; a stop waits a while, so that it comes to no harm. */
export async function save(run: Run): Promise<void> {
  const { checkpoint, messages, clock } = run;
  const saveNow = (): Promise<void> => checkpoint(messages);
  run.saving = run.saving.then(saveNow, saveNow);
  await untilAborted(run.saving, clock.savingSignal);
  await run.tell({ type: 'checkpoint', messages: messages.length });
}

function end({ lastText, usage, iteration, models }: Run, ending: Ending, reason: string): LoopResult {
  return {
    text: lastText || NO_FINAL_RESPONSE,
    ending,
    reason,
    usage,
    iterations: iteration,
    models: [...models],
  };
}

export async function endBroken(run: Run, error: unknown): Promise<LoopResult> {
  const { ending, reason, isFinal } = toBrokenEnding(run, error);
  // The turn that could not be paid was not taken.
  if (ending === 'money') run.iteration -= 1;
  const isError = ending !== 'time' && ending !== 'money';
  // Whoever comes back to one that is not final goes on where it was saved.
  if (!isFinal) return { ...end(run, ending, reason), error };
  try {
    return { ...(await endWithout(run, ending, reason)), ...(isError && { error }) };
  } catch (unsaved) {
    return { ...end(run, ending, reason), error: isError ? error : unsaved };
  }
}

function toBrokenEnding(run: Run, error: unknown): { ending: Ending; reason: string; isFinal: boolean } {
  const { aborted, reason: why } = run.stopSignal;
  if (aborted) return { ending: 'stopped', reason: wordsOf(why), isFinal: false };
  const reason = wordsOf(error);
  if (error instanceof TimeUpError)
    return { ending: 'time', reason: toTimeReason(run.limits.maxDurationMs), isFinal: true };
  if (!(error instanceof ModelError)) return { ending: 'unexpected-error', reason, isFinal: false };
  if (error.kind === 'no-money') return { ending: 'money', reason, isFinal: true };
  return { ending: 'model-error', reason, isFinal: error.kind !== 'retry' };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
