import type { LastTurn, TurnPlan } from './budget.ts';
import { checkSize } from './check-size.ts';
import { likelyTokens, messagesBytes, mostTokens, nameFrame, requestBytes } from './estimate.ts';
import { fireAfterModel, fireBeforeModel } from './hooks.ts';
import { contextTokens, ModelError, type ModelRequest, type ModelTurn } from './model.ts';
import { FINAL_TURN_WARNING } from './prompts.ts';
import { type Run, toView } from './run.ts';
import { fitInto, shrinkToFit } from './shrink.ts';
import { type Report, whileRunning } from './while-running.ts';

const TOO_LONG: LastTurn = { ending: 'context', reason: 'the conversation is too long for the model' };

export interface TakenTurn {
  turn: ModelTurn;
  /** Set when it was the last one: no tools could be called. */
  last: LastTurn | null;
}

/** One round trip to the model. A conversation it can not take is made shorter, then cut for a last turn. */
export async function takeTurn(run: Run, plan: TurnPlan): Promise<TakenTurn> {
  for (const event of run.pending.splice(0)) await run.tell(event);
  const taken = await whileRunning(run, async (report) => {
    try {
      return await ask(run, plan, report);
    } catch (error) {
      if (!isTooLong(error)) throw error;
      report({ type: 'context-overflow', reason: (error as ModelError).message });
      return askShorter(run, plan, report);
    }
  });
  const { turn } = taken;
  run.models.add(run.model.name);
  await run.tell({
    type: 'turn',
    iteration: run.iteration,
    text: turn.message.content,
    calls: turn.message.toolCalls,
    usage: turn.usage,
    contextTokens: contextTokens(turn.usage),
  });
  return taken;
}

async function ask(run: Run, { last, words }: TurnPlan, report: Report): Promise<TakenTurn> {
  const view = toView(run, report);
  const whole = { ...run.request(words), toolsDisabled: last !== null };
  // A last turn is taken whatever there is; what is sent has its limit all the same.
  const planned = last ? fitInto(run.limits.contextLimit, whole, run.model.name) : whole;
  const { request, turn, last: made } = await fireBeforeModel(run.hooks, planned, view);
  const answered = turn ?? (await generate(run, request, report));
  view.spend(answered.usage);
  const heard = await fireAfterModel(run.hooks, answered, view);
  // What the model counted is the size of the conversation only if that was sent, and is kept, as it is.
  const isWhole = request.messages === whole.messages && heard.message === answered.message;
  return { turn: isWhole ? withSize(heard, request, run.model.name) : heard, last: last ?? made };
}

/** Compacted, once; if that is not enough, cut down to what surely fits and asked for an answer. */
async function askShorter(run: Run, plan: TurnPlan, report: Report): Promise<TakenTurn> {
  const view = toView(run, report);
  const { contextLimit } = run.limits;
  const isWithinLimit = (): boolean => mostTokens(run.request(plan.words), run.model.name) <= contextLimit;
  // Nobody knows how small the window is of a model that refuses what is within the limit.
  let maxTokens = isWithinLimit() ? likelyTokens(run.request()) / 2 : contextLimit;
  try {
    const isShorter = await run.compaction?.compact(run.messages, run.request(), view, maxTokens);
    if (isShorter && isWithinLimit()) return await ask(run, plan, report);
  } catch (error) {
    if (!isTooLong(error)) throw error;
  }
  report({ type: 'warning', kind: 'final-turn', iteration: run.iteration });
  const words = plan.words.includes(FINAL_TURN_WARNING) ? plan.words : [...plan.words, FINAL_TURN_WARNING];
  const whole = run.request(words);
  for (; ; maxTokens /= 2) {
    try {
      const shorter = shrinkToFit(whole, maxTokens);
      const answered = await generate(run, { ...shorter, toolsDisabled: true }, report);
      view.spend(answered.usage);
      const turn = await fireAfterModel(run.hooks, answered, view);
      return { turn, last: plan.last ?? TOO_LONG };
    } catch (error) {
      if (!isTooLong(error) || maxTokens < MIN_TOKENS) throw error;
    }
  }
}

/** Less than this is no conversation any more. */
const MIN_TOKENS = 1_000;

function isTooLong(error: unknown): boolean {
  return error instanceof ModelError && error.kind === 'too-long';
}

/** Never more than the limit, whoever has changed the request. */
async function generate({ model, signal }: Run, request: ModelRequest, report: Report): Promise<ModelTurn> {
  signal.throwIfAborted();
  checkSize(request, model.name);
  const turn = await model.generate({
    ...request,
    onDelta: (delta) =>
      report(
        delta.kind === 'call'
          ? { type: 'call-delta', name: delta.name, text: delta.text }
          : { type: `${delta.kind}-delta`, text: delta.text },
      ),
    onEvent: report,
  });
  // Nobody waits for a model that does not listen, and nothing follows from what it says then.
  signal.throwIfAborted();
  return turn;
}

/** Of a whole request, with its instructions; texts of blanks alone come to more. */
const MAX_BYTES_PER_TOKEN = 16;

function withSize(turn: ModelTurn, request: ModelRequest, model: string): ModelTurn {
  const sent = contextTokens(turn.usage);
  // Not every server counts, and some count only what they had not seen before.
  if (requestBytes(request) > MAX_BYTES_PER_TOKEN * sent) return turn;
  // Nor do all count what they write.
  const tokens = sent + (turn.usage.outputTokens || messagesBytes([turn.message]));
  // Some do not count tools that must not be called.
  const size = { tokens, model, ...(!request.toolsDisabled && { frame: nameFrame(request) }) };
  return { ...turn, message: { ...turn.message, size } };
}
