// Ask the model, run its tools, save, until there is an answer.
import { planTurn } from './budget.ts';
import type { AgentEvent, Ending } from './events.ts';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from './messages.ts';
import {
  addUsage,
  contextTokens,
  type Model,
  ModelError,
  type ModelTurn,
  NO_USAGE,
  type Usage,
} from './model.ts';
import { NO_FINAL_RESPONSE } from './prompts.ts';
import { streamTurn } from './stream-turn.ts';
import type { Toolbox } from './toolbox.ts';

export interface LoopOptions {
  model: Model;
  toolbox: Toolbox;
  system: string;
  /** The conversation so far, ending with what is to be answered. Grows in place. */
  messages: Message[];
  maxIterations: number;
  contextLimit: number;
  maxOutputTokens: number;
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

export async function* runLoop(options: LoopOptions): AsyncGenerator<AgentEvent, LoopResult> {
  const progress: Progress = {
    usage: NO_USAGE,
    lastText: '',
    contextTokens: 0,
    iteration: 0,
    models: new Set(),
  };
  const result = yield* iterate(options, progress);
  const { ending, reason, usage, iterations } = result;
  yield { type: 'ended', ending, reason, usage, iterations };
  return result;
}

interface Progress {
  usage: Usage;
  /** Text that came along with tool calls: the answer if there is no better one. */
  lastText: string;
  contextTokens: number;
  iteration: number;
  models: Set<string>;
}

async function* iterate(options: LoopOptions, progress: Progress): AsyncGenerator<AgentEvent, LoopResult> {
  const { messages, maxIterations } = options;
  let emptyResponses = 0;
  let nudge: 'empty-response' | 'cut-off' | null = null;
  try {
    while (true) {
      progress.iteration += 1;
      const plan = planTurn(options, { ...progress, nudge });
      yield { type: 'turn-started', iteration: progress.iteration, maxIterations };
      for (const kind of plan.warnings) yield { type: 'warning', kind, iteration: progress.iteration };

      const turn = yield* takeTurn(options, plan, progress);
      const { message } = turn;
      const isCutOff = turn.stop === 'length' && message.toolCalls.length > 0;

      if (message.content && (message.toolCalls.length === 0 || plan.isFinal)) {
        messages.push(withoutCalls(message));
        yield* save(options);
        if (!plan.isFinal) return end(progress, 'answered', 'the model was done', message.content);
        return endFinal(options, progress, message.content);
      }
      if (plan.isFinal) return endFinal(options, progress, progress.lastText);

      if (message.toolCalls.length > 0 && !isCutOff) {
        if (message.content) progress.lastText = message.content;
        messages.push(message, ...(yield* runTools(options, message)));
        yield* save(options);
        emptyResponses = 0;
        nudge = null;
        continue;
      }
      // Neither text nor a call that may be executed: ask again, and save nothing of it.
      emptyResponses += 1;
      if (emptyResponses > MAX_EMPTY_RETRIES)
        return end(progress, 'empty', 'the model gave no response', progress.lastText);
      nudge = isCutOff ? 'cut-off' : 'empty-response';
    }
  } catch (error) {
    return endBroken(options, progress, error);
  }
}

async function* takeTurn(
  { model, system, messages, toolbox, maxOutputTokens, signal }: LoopOptions,
  plan: { isFinal: boolean; transient: string | undefined },
  progress: Progress,
): AsyncGenerator<AgentEvent, ModelTurn> {
  signal.throwIfAborted();
  const turn = yield* streamTurn(model, {
    system,
    messages,
    tools: toolbox.definitions,
    toolsDisabled: plan.isFinal,
    ...(plan.transient !== undefined && { transient: plan.transient }),
    maxOutputTokens,
    signal,
  });
  progress.models.add(model.name);
  progress.usage = addUsage(progress.usage, turn.usage);
  progress.contextTokens = contextTokens(turn.usage);
  yield {
    type: 'turn',
    iteration: progress.iteration,
    text: turn.message.content,
    calls: turn.message.toolCalls,
    usage: turn.usage,
    contextTokens: progress.contextTokens,
  };
  return { ...turn, message: withSize(turn, model.name) };
}

function withSize({ message, usage }: ModelTurn, model: string): AssistantMessage {
  const tokens = contextTokens(usage) + usage.outputTokens;
  // Not every server counts.
  return tokens === 0 ? message : { ...message, size: { tokens, model } };
}

async function* runTools(
  { toolbox, signal }: LoopOptions,
  message: AssistantMessage,
): AsyncGenerator<AgentEvent, ToolMessage[]> {
  const answers: ToolMessage[] = [];
  for (const call of message.toolCalls) {
    signal.throwIfAborted();
    yield { type: 'tool-started', call };
    const start = performance.now();
    const { result, isError } = await toolbox.execute(call, signal);
    yield { type: 'tool-finished', call, isError, result, durationMs: Math.round(performance.now() - start) };
    answers.push(toToolMessage(call, result, isError));
  }
  return answers;
}

/** A call that will not be executed would be one without a result. */
function withoutCalls(message: AssistantMessage): AssistantMessage {
  if (message.toolCalls.length === 0) return message;
  const { toolCalls: _calls, native: _native, ...rest } = message;
  return { ...rest, toolCalls: [] };
}

function toToolMessage(call: ToolCall, result: Record<string, unknown>, isError: boolean): ToolMessage {
  return { role: 'tool', toolCallId: call.id, name: call.name, content: JSON.stringify(result), isError };
}

async function* save({ checkpoint, messages }: LoopOptions): AsyncGenerator<AgentEvent, void> {
  await checkpoint(messages);
  yield { type: 'checkpoint', messages: messages.length };
}

function end(progress: Progress, ending: Ending, reason: string, text: string): LoopResult {
  return {
    text: text || NO_FINAL_RESPONSE,
    ending,
    reason,
    usage: progress.usage,
    iterations: progress.iteration,
    models: [...progress.models],
  };
}

function endFinal({ maxIterations }: LoopOptions, progress: Progress, text: string): LoopResult {
  return progress.iteration >= maxIterations
    ? end(progress, 'iterations', `all ${maxIterations} turns were used`, text)
    : end(progress, 'context', 'the conversation reached its size limit', text);
}

function endBroken({ signal }: LoopOptions, progress: Progress, error: unknown): LoopResult {
  const message = error instanceof Error ? error.message : String(error);
  if (signal.aborted) return { ...end(progress, 'stopped', message, progress.lastText), error };
  const ending = error instanceof ModelError ? 'model-error' : 'unexpected-error';
  return { ...end(progress, ending, message, progress.lastText), error };
}
