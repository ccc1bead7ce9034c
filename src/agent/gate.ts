// Whether an answer may be the last word.
import { cutEnd } from './cut-text.ts';
import { isQuestion } from './history.ts';
import type { Hooks, RunView } from './hooks.ts';
import type { Message } from './messages.ts';
import type { Model } from './model.ts';
import { JUDGE_SYSTEM_PROMPT } from './prompts.ts';
import { askSide } from './side-call.ts';

export interface GateOptions {
  /** Judges whether the answer reflects the tool results; without one there are only the cheap checks. */
  judge: Model | null;
  /** For the judge; then the answer passes. */
  maxWaitMs?: number;
}

const MAX_OBJECTIONS = 2;
const PREVIEWS = 8;
const PREVIEW_CHARS = 280;
const MAX_PROMISE_CHARS = 400;
const MAX_REASON_CHARS = 600;
/** Thinking counts, too. */
const MAX_VERDICT_TOKENS = 2_000;
const MAX_VERDICT_WAIT_MS = 120_000;

/** Sends an answer back that is none, at most twice. */
export function createGate({ judge, maxWaitMs = MAX_VERDICT_WAIT_MS }: GateOptions): Hooks {
  let objections = 0;
  return {
    async afterAgent(answer, run) {
      if (objections >= MAX_OBJECTIONS) return undefined;
      const objection =
        findCheapObjection(answer, run, objections) ??
        (judge && (await askJudge(judge, answer, { run, maxWaitMs })));
      if (!objection) return undefined;
      objections += 1;
      return { sendBack: objection };
    },
  };
}

function findCheapObjection(answer: string, run: RunView, objections: number): string | null {
  if (isPromise(answer))
    return 'It only says what you are going to do. Do it now, then write what you found.';
  // A reply may need no tools, the first answer to what has failed does; but it may be right all the same, so once is enough.
  const told = run.messages.findLastIndex((one) => one.role === 'user' && one.failures !== undefined);
  const isFirst = run.messages.slice(told + 1).every(({ role }) => role === 'user');
  if (isFirst && objections === 0)
    return 'You have not looked at anything yet. Investigate with your tools, or repeat your answer if there is nothing to look at.';
  return null;
}

/** Short, and at its end an announcement; what it announces was never done. */
function isPromise(answer: string): boolean {
  const text = answer.trim();
  if (text.length > MAX_PROMISE_CHARS) return false;
  const lastSentence = text.split(/(?<=[.!?…:])\s+/).at(-1) ?? '';
  return /^(?:(?:ok(?:ay)?|sure|now|next|first|then|so)\b[,.!]?\s*)*(?:let me(?! know)|let's|i'll|i will|i am going to|i'm going to)\b/i.test(
    lastSentence,
  );
}

/** By intent, not by phrases. A judge that can not be asked does not hold anything up. */
async function askJudge(
  judge: Model,
  answer: string,
  { run, maxWaitMs }: { run: RunView; maxWaitMs: number },
): Promise<string | null> {
  const question = run.messages.findLast(isQuestion)?.content ?? '';
  try {
    const verdict = await askSide(judge, 'judgement', run, {
      system: JUDGE_SYSTEM_PROMPT,
      // As JSON no part of it can pretend to be another.
      prompt: JSON.stringify({ question, toolResults: toPreviews(run.messages), answer }),
      maxOutputTokens: MAX_VERDICT_TOKENS,
      maxWaitMs,
    });
    const [, reason] = /^\s*CONTINUE:\s*([\s\S]*)/i.exec(verdict) ?? [];
    if (reason === undefined && !/^\s*DONE\b/i.test(verdict))
      run.report({ type: 'judge-failed', reason: 'no verdict' });
    return reason === undefined
      ? null
      : cutEnd(reason.trim(), MAX_REASON_CHARS) || 'The answer does not reflect what the tools have shown.';
  } catch (error) {
    run.signal.throwIfAborted();
    run.report({ type: 'judge-failed', reason: error instanceof Error ? error.message : String(error) });
    return null;
  }
}

/** How the last results begin, of earlier runs, too: a reply is often answered from what is known already. */
function toPreviews(messages: readonly Message[]): string[] {
  return messages
    .filter((message) => message.role === 'tool')
    .slice(-PREVIEWS)
    .map(({ name, content }) => `${name}: ${content.slice(0, PREVIEW_CHARS)}`);
}
