import type { LastTurn, TurnPlan } from './budget.ts';
import type { AgentEvent } from './events.ts';
import { fireAfterModel, fireBeforeModel } from './hooks.ts';
import type { AssistantMessage } from './messages.ts';
import { addUsage, contextTokens, ModelError, type ModelRequest, type ModelTurn } from './model.ts';
import { FINAL_TURN_WARNING } from './prompts.ts';
import { type Run, toView } from './run.ts';
import { shrinkToFit } from './shrink.ts';
import { type Report, untilAborted, whileRunning } from './while-running.ts';

const TOO_LONG: LastTurn = { ending: 'context', reason: 'the conversation is too long for the model' };

export interface TakenTurn {
  turn: ModelTurn;
  /** Set when it was the last one: no tools could be called. */
  last: LastTurn | null;
}

/** One round trip to the model. A conversation it can not take is made shorter, then cut for a last turn. */
export async function* takeTurn(run: Run, plan: TurnPlan): AsyncGenerator<AgentEvent, TakenTurn> {
  yield* run.pending.splice(0);
  const taken = yield* whileRunning(async (report) => {
    try {
      return await ask(run, plan, report);
    } catch (error) {
      if (!(error instanceof ModelError) || error.kind !== 'too-long') throw error;
      report({ type: 'context-overflow', reason: error.message });
      return askShorter(run, plan, report);
    }
  });
  const { turn } = taken;
  run.models.add(run.model.name);
  run.usage = addUsage(run.usage, turn.usage);
  yield {
    type: 'turn',
    iteration: run.iteration,
    text: turn.message.content,
    calls: turn.message.toolCalls,
    usage: turn.usage,
    contextTokens: contextTokens(turn.usage),
  };
  return { ...taken, turn: { ...turn, message: withSize(turn, run.model.name) } };
}

async function ask(run: Run, { last, words }: TurnPlan, report: Report): Promise<TakenTurn> {
  const view = toView(run, report);
  const planned = { ...run.request(words), toolsDisabled: last !== null };
  const { request, turn, last: made } = await fireBeforeModel(run.hooks, planned, view);
  const answered = turn ?? (await generate(run, request, report));
  return {
    turn: await fireAfterModel(run.hooks, answered, view),
    last: last ?? made,
  };
}

/** Compacted, once; if that is not enough, cut down to what surely fits and asked for an answer. */
async function askShorter(run: Run, plan: TurnPlan, report: Report): Promise<TakenTurn> {
  try {
    const isShorter = await run.compaction?.compact(run.messages, run.request(), toView(run, report));
    if (isShorter) return await ask(run, plan, report);
  } catch (error) {
    if (!(error instanceof ModelError) || error.kind !== 'too-long') throw error;
  }
  const request = shrinkToFit(run.request([FINAL_TURN_WARNING]), run.limits.contextLimit / 2);
  report({ type: 'warning', kind: 'final-turn', iteration: run.iteration });
  const turn = await generate(run, { ...request, toolsDisabled: true }, report);
  return { turn, last: plan.last ?? TOO_LONG };
}

function generate({ model, signal }: Run, request: ModelRequest, report: Report): Promise<ModelTurn> {
  signal.throwIfAborted();
  return untilAborted(
    model.generate({
      ...request,
      onDelta: (delta) =>
        report(
          delta.kind === 'call'
            ? { type: 'call-delta', name: delta.name, text: delta.text }
            : { type: `${delta.kind}-delta`, text: delta.text },
        ),
      onEvent: report,
    }),
    signal,
  );
}

function withSize({ message, usage }: ModelTurn, model: string): AssistantMessage {
  const tokens = contextTokens(usage) + usage.outputTokens;
  // Not every server counts.
  return tokens === 0 ? message : { ...message, size: { tokens, model } };
}
