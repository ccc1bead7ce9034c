// Ask the model, run its tools, save, until there is an answer.

import { untilAborted } from '../deadline.ts';
import { CONTEXT_FULL, type Limits, makeLast, NO_MONEY_LEFT, planTurn, type TurnPlan } from './budget.ts';
import { TimeUpError } from './clock.ts';
import type { Compaction } from './compaction.ts';
import {
  answer,
  endBroken,
  endLast,
  endWithout,
  keepText,
  longer,
  save,
  toAnswer,
  toReason,
} from './endings.ts';
import { mostTokens } from './estimate.ts';
import { toEvents } from './event-stream.ts';
import type { AgentEvent, Ending } from './events.ts';
import { fireAfterAgent, fireBeforeAgent, fireBeforeTool, type Hooks, type RunView } from './hooks.ts';
import type { AssistantMessage, Message } from './messages.ts';
import type { Model, Usage } from './model.ts';
import {
  CONTINUE_ANSWER,
  CUT_OFF_NUDGE,
  EMPTY_RESPONSE_NUDGE,
  TOO_LONG_ANSWER_NUDGE,
  toRefusal,
  toSentBack,
} from './prompts.ts';
import { readTurn, withCalls } from './read-turn.ts';
import { createRun, type Run, toView } from './run.ts';
import { runTools } from './run-tools.ts';
import { takeTurn } from './take-turn.ts';
import type { Toolbox } from './toolbox.ts';
import { type Report, whileRunning } from './while-running.ts';

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
  /**
   * Saves the conversation; called only when every call has its result, and one at a time.
   * One that takes longer than the run may is left behind: whoever runs the loop saves once more, or says what is lost.
   */
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

export function runLoop(options: LoopOptions): AsyncGenerator<AgentEvent, LoopResult> {
  return toEvents(async (stream) => {
    const run = createRun(options, stream);
    stream.onLeft(run.clock.stop);
    const result = await iterate(run).catch((error) => endBroken(run, error));
    const { ending, reason, usage, iterations } = result;
    if (ending === 'stopped') run.report({ type: 'stopped', reason });
    run.report({ type: 'ended', ending, reason, usage, iterations });
    return result;
  });
}

async function iterate(run: Run): Promise<LoopResult> {
  let hasBegun = false;
  while (true) {
    try {
      if (!hasBegun) {
        hasBegun = true;
        await whileRunning(run, (report) => fireBeforeAgent(run.hooks, toView(run, report)));
      }
      const result = await takeStep(run);
      if (result) return result;
    } catch (error) {
      // What was under way when the time to work was over is given up, and the next turn is the last.
      if (!(error instanceof TimeUpError) || run.clock.endSignal.aborted) throw error;
    }
  }
}

/** One turn and what follows from it; null when there is more to do. */
async function takeStep(run: Run): Promise<LoopResult | null> {
  await makeRoom(run);
  const plan = await startTurn(run);
  const { turn, last } = await takeTurn(run, plan);
  // Not before: a turn that was given up has told nobody.
  run.words.length = 0;
  const reading = readTurn(turn, run.draft);
  if (last) return await endLast(run, last, turn);
  switch (reading.kind) {
    case 'answer': {
      // Whatever comes of the objections, it is the best there is by now.
      run.lastText = reading.message.content;
      const reason = await findObjection(run, reading.message.content);
      if (reason === null) return await answer(run, reading.message, ['answered', 'the model was done']);
      sendBack(run, reading.message.content, reason);
      return null;
    }
    case 'calls':
      await act(run, reading.message);
      return null;
    case 'cut-text':
      if (run.continuations > MAX_CONTINUATIONS)
        return await answer(run, toAnswer(longer(run.lastText, reading.text)), [
          'answered',
          'the answer was cut off',
        ]);
      continueAnswer(run, reading.text);
      return null;
    default:
      run.emptyResponses += 1;
      keepText(run, run.draft + turn.message.content);
      if (run.emptyResponses > MAX_EMPTY_RETRIES)
        return await endWithout(run, 'empty', toReason(reading.kind));
      nudge(run, reading.kind === 'empty' ? EMPTY_RESPONSE_NUDGE : CUT_OFF_NUDGE);
      return null;
  }
}

/** A long conversation is made shorter before it is sent. */
async function makeRoom(run: Run): Promise<void> {
  const { compaction } = run;
  if (run.clock.isTimeToWorkOver() || !compaction?.isDue(run.request(run.words), run.model.name)) return;
  const isShorter = await whileRunning(run, (report) =>
    compaction.compact(run.messages, run.request(), toView(run, report)),
  );
  if (isShorter) await save(run);
}

async function startTurn(run: Run): Promise<TurnPlan> {
  const { maxIterations, contextLimit } = run.limits;
  const plan = planTurn(run.limits, run.used());
  const words = [...plan.words, ...run.words];
  if (!plan.last && mostTokens(run.request(words), run.model.name) > contextLimit)
    makeLast(plan, CONTEXT_FULL);
  if (!plan.last && !(await canGoOn(run))) makeLast(plan, NO_MONEY_LEFT);
  if (plan.last) run.clock.startLastTurn();
  run.iteration += 1;
  await run.tell({ type: 'turn-started', iteration: run.iteration, maxIterations });
  for (const kind of plan.warnings) await run.tell({ type: 'warning', kind, iteration: run.iteration });
  plan.words.push(...run.words);
  return plan;
}

async function canGoOn({ model, signal, request }: Run): Promise<boolean> {
  return model.canGoOn ? untilAborted(model.canGoOn(request()), signal) : true;
}

/** Runs the calls that nobody objects to. One that is refused is as if it had never been made. */
async function act(run: Run, message: AssistantMessage): Promise<void> {
  keepText(run, message.content);
  const { allowed, refusals } = await whileRunning(run, async (report) => {
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
  for (const words of new Set(refusals)) nudge(run, words);
  run.draft = '';
  if (allowed.length === 0) return;
  const kept = withCalls(message, allowed);
  const { toolbox, hooks, signal, clock, report } = run;
  const view = (report: Report): RunView => toView(run, report);
  const results = await runTools({ toolbox, hooks, signal, clock, report, view }, allowed);
  run.messages.push(kept, ...results);
  run.emptyResponses = 0;
  await save(run);
}

/** A reason why this can not be the last word; null when it can. */
async function findObjection(run: Run, text: string): Promise<string | null> {
  if (run.sentBack >= MAX_SENT_BACK) return null;
  return await whileRunning(run, (report) => fireAfterAgent(run.hooks, text, toView(run, report)));
}

/** The answer stays the best there is, but the model has to go on; it sees its draft once more, nobody else does. */
function sendBack(run: Run, text: string, reason: string): void {
  run.sentBack += 1;
  run.lastText = text;
  run.hasAnswered = true;
  run.draft = '';
  run.report({ type: 'sent-back', reason });
  nudge(run, toSentBack(text, reason));
}

/** The text so far is sent back as the model's own, and asked to be continued. */
function continueAnswer(run: Run, text: string): void {
  keepText(run, text);
  run.continuations += 1;
  const isTooMuch = run.continuations > MAX_CONTINUATIONS;
  run.draft = isTooMuch ? '' : text;
  run.hasAnswered ||= isTooMuch;
  nudge(run, isTooMuch ? TOO_LONG_ANSWER_NUDGE : CONTINUE_ANSWER);
}

function nudge(run: Run, words: string): void {
  run.words.push(words);
  run.pending.push({ type: 'warning', kind: 'nudge', iteration: run.iteration + 1 });
}
