// Ask the model, run its tools, save, until there is an answer.
import { type LastTurn, type Limits, makeLast, NO_MONEY_LEFT, planTurn, type TurnPlan } from './budget.ts';
import type { Compaction } from './compaction.ts';
import type { AgentEvent, Ending } from './events.ts';
import { fireAfterAgent, fireBeforeAgent, fireBeforeTool, type Hooks } from './hooks.ts';
import type { AssistantMessage, Message } from './messages.ts';
import { type Model, ModelError, type ModelTurn, type Usage } from './model.ts';
import {
  CONTINUE_ANSWER,
  CUT_OFF_NUDGE,
  EMPTY_RESPONSE_NUDGE,
  NO_FINAL_RESPONSE,
  TOO_LONG_ANSWER_NUDGE,
  toRefusal,
  toSentBack,
} from './prompts.ts';
import { hasText, readTurn, withCalls } from './read-turn.ts';
import { createRun, type Run, toView } from './run.ts';
import { runTools } from './run-tools.ts';
import { takeTurn } from './take-turn.ts';
import type { Toolbox } from './toolbox.ts';
import { whileRunning } from './while-running.ts';

export interface LoopOptions extends Limits {
  model: Model;
  toolbox: Toolbox;
  system: string;
  /** The conversation so far, ending with what is to be answered. Grows in place. */
  messages: Message[];
  maxOutputTokens: number;
  /** Makes room in a long conversation; without it, a long one has to come to its end. */
  compaction?: Compaction;
  /** Features that take part in the run, in their order. */
  hooks?: readonly Hooks[];
  /** Saves the conversation; called only when every call has its result. */
  checkpoint: (messages: readonly Message[]) => Promise<void>;
  signal: AbortSignal;
}

export interface LoopResult {
  /** The best text there is. */
  text: string;
  ending: Ending;
  /** In a sentence. */
  reason: string;
  usage: Usage;
  iterations: number;
  /** Who answered, in the order of their first turn. */
  models: string[];
  /** What broke the run, for endings that are errors. */
  error?: unknown;
}

const MAX_EMPTY_RETRIES = 2;
const MAX_CONTINUATIONS = 3;
const MAX_SENT_BACK = 3;

export async function* runLoop(options: LoopOptions): AsyncGenerator<AgentEvent, LoopResult> {
  const run = createRun(options);
  let result: LoopResult;
  try {
    yield* whileRunning((report) => fireBeforeAgent(run.hooks, toView(run, report)));
    result = yield* iterate(run);
  } catch (error) {
    result = endBroken(run, error);
  }
  const { ending, reason, usage, iterations } = result;
  if (ending === 'stopped') yield { type: 'stopped', reason };
  yield { type: 'ended', ending, reason, usage, iterations };
  return result;
}

async function* iterate(run: Run): AsyncGenerator<AgentEvent, LoopResult> {
  while (true) {
    yield* makeRoom(run);
    const plan = yield* startTurn(run);
    const { turn, last } = yield* takeTurn(run, plan);
    const reading = readTurn(turn, run.draft);
    if (last) return yield* endLast(run, last, turn);
    switch (reading.kind) {
      case 'answer': {
        const reason = yield* findObjection(run, reading.message.content);
        if (reason === null) return yield* answer(run, reading.message, ['answered', 'the model was done']);
        sendBack(run, reading.message.content, reason);
        break;
      }
      case 'calls':
        yield* act(run, reading.message);
        break;
      case 'cut-text':
        if (run.continuations > MAX_CONTINUATIONS)
          return yield* answer(run, toAnswer(reading.text), ['answered', 'the answer was cut off']);
        continueAnswer(run, reading.text);
        break;
      default:
        run.emptyResponses += 1;
        if (run.emptyResponses > MAX_EMPTY_RETRIES) return end(run, 'empty', 'the model gave no response');
        nudge(run, reading.kind === 'empty' ? EMPTY_RESPONSE_NUDGE : CUT_OFF_NUDGE);
    }
  }
}

/** A long conversation is made shorter before it is sent. */
async function* makeRoom(run: Run): AsyncGenerator<AgentEvent, void> {
  const { compaction } = run;
  if (!compaction?.isDue(run.request())) return;
  const isShorter = yield* whileRunning((report) =>
    compaction.compact(run.messages, run.request(), toView(run, report)),
  );
  if (isShorter) yield* save(run);
}

async function* startTurn(run: Run): AsyncGenerator<AgentEvent, TurnPlan> {
  run.iteration += 1;
  const plan = planTurn(run.limits, run.used());
  if (!plan.last && (await run.model.canGoOn?.(run.request())) === false) makeLast(plan, NO_MONEY_LEFT);
  yield { type: 'turn-started', iteration: run.iteration, maxIterations: run.limits.maxIterations };
  for (const kind of plan.warnings) yield { type: 'warning', kind, iteration: run.iteration };
  plan.words.push(...run.words.splice(0));
  return plan;
}

/** Runs the calls that nobody objects to. One that is refused is as if it had never been made. */
async function* act(run: Run, message: AssistantMessage): AsyncGenerator<AgentEvent, void> {
  const { allowed, refusals } = yield* whileRunning(async (report) => {
    const view = toView(run, report);
    const allowed: typeof message.toolCalls = [];
    const refusals: string[] = [];
    for (const call of message.toolCalls) {
      const reason = await fireBeforeTool(run.hooks, call, view);
      if (reason === null) allowed.push(call);
      else {
        report({ type: 'tool-refused', call, reason });
        refusals.push(toRefusal(call.name, reason));
      }
    }
    return { allowed, refusals };
  });
  for (const words of refusals) nudge(run, words);
  if (hasText(message.content)) run.lastText = message.content;
  if (allowed.length === 0) return;
  const kept = withCalls(message, allowed);
  const results = yield* runTools({ ...run, view: (report) => toView(run, report) }, allowed);
  run.messages.push(kept, ...results);
  run.draft = '';
  run.emptyResponses = 0;
  yield* save(run);
}

/** A reason why this can not be the last word; null when it can. */
async function* findObjection(run: Run, text: string): AsyncGenerator<AgentEvent, string | null> {
  if (run.sentBack >= MAX_SENT_BACK) return null;
  return yield* whileRunning((report) => fireAfterAgent(run.hooks, text, toView(run, report)));
}

/** The answer stays the best there is, but the model has to go on; it sees its draft once more, nobody else does. */
function sendBack(run: Run, text: string, reason: string): void {
  run.sentBack += 1;
  run.lastText = text;
  run.draft = '';
  run.pending.push({ type: 'sent-back', reason });
  nudge(run, toSentBack(text, reason));
}

/** The text so far is sent back as the model's own, and asked to be continued. */
function continueAnswer(run: Run, text: string): void {
  run.lastText = text;
  run.continuations += 1;
  const isTooMuch = run.continuations > MAX_CONTINUATIONS;
  run.draft = isTooMuch ? '' : text;
  nudge(run, isTooMuch ? TOO_LONG_ANSWER_NUDGE : CONTINUE_ANSWER);
}

function nudge(run: Run, words: string): void {
  run.words.push(words);
  run.pending.push({ type: 'warning', kind: 'nudge', iteration: run.iteration + 1 });
}

/** Whatever came of the last turn, its text is the answer. */
async function* endLast(
  run: Run,
  { ending, reason }: LastTurn,
  { message }: ModelTurn,
): AsyncGenerator<AgentEvent, LoopResult> {
  const text = run.draft + message.content;
  if (!hasText(text)) return end(run, ending === 'answered' ? 'empty' : ending, reason);
  const whole = run.draft === '' && message.toolCalls.length === 0 ? message : toAnswer(text);
  return yield* answer(run, whole, [ending, reason]);
}

async function* answer(
  run: Run,
  message: AssistantMessage,
  [ending, reason]: [Ending, string],
): AsyncGenerator<AgentEvent, LoopResult> {
  run.messages.push(message);
  run.lastText = message.content;
  yield* save(run);
  return end(run, ending, reason);
}

function toAnswer(content: string): AssistantMessage {
  return { role: 'assistant', content, toolCalls: [] };
}

async function* save({ checkpoint, messages }: Run): AsyncGenerator<AgentEvent, void> {
  await checkpoint(messages);
  yield { type: 'checkpoint', messages: messages.length };
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

function endBroken(run: Run, error: unknown): LoopResult {
  const message = error instanceof Error ? error.message : String(error);
  if (run.signal.aborted) return { ...end(run, 'stopped', message), error };
  // For this turn nobody was asked.
  if (error instanceof ModelError && error.kind === 'no-money')
    return end({ ...run, iteration: run.iteration - 1 }, 'money', message);
  return { ...end(run, error instanceof ModelError ? 'model-error' : 'unexpected-error', message), error };
}
