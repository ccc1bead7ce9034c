// What a run remembers from turn to turn, beside the conversation itself.
import type { Limits, Used } from './budget.ts';
import { type Clock, startClock } from './clock.ts';
import { mostTokens } from './estimate.ts';
import type { EventStream } from './event-stream.ts';
import type { AgentEvent } from './events.ts';
import { isQuestion } from './history.ts';
import type { Hooks, RunView } from './hooks.ts';
import type { LoopOptions } from './loop.ts';
import type { Message } from './messages.ts';
import { addUsage, type ModelRequest, NO_USAGE, type Usage } from './model.ts';

export interface Run extends Omit<LoopOptions, keyof Limits | 'hooks'>, Pick<EventStream, 'report' | 'tell'> {
  limits: Limits;
  clock: Clock;
  /** Of whoever runs it; `signal` is of the clock as well. */
  stopSignal: AbortSignal;
  hooks: readonly Hooks[];
  usage: Usage;
  models: Set<string>;
  iteration: number;
  /** The answer if there is no better one. */
  lastText: string;
  /** That is an answer, though not taken as the last word. */
  hasAnswered: boolean;
  /** Text of an answer that the output limit has cut off and the model is to continue. */
  draft: string;
  continuations: number;
  emptyResponses: number;
  sentBack: number;
  /** What the model is told with the next request only. */
  words: string[];
  /** The last checkpoint; it may not be done yet. */
  saving: Promise<void>;
  /** Events of the next turn. */
  pending: AgentEvent[];
  /** What would be sent now. */
  request(words?: readonly string[]): ModelRequest;
  used(): Used;
}

export function createRun(
  { maxIterations, contextLimit, maxDurationMs, ...options }: LoopOptions,
  { report, tell }: EventStream,
): Run {
  const clock = startClock(options.signal, maxDurationMs);
  const run: Run = {
    ...options,
    get signal() {
      return clock.signal;
    },
    clock,
    stopSignal: options.signal,
    limits: { maxIterations, contextLimit, ...(maxDurationMs !== undefined && { maxDurationMs }) },
    hooks: options.hooks ?? [],
    usage: NO_USAGE,
    models: new Set(),
    iteration: 0,
    lastText: findLastText(options.messages),
    hasAnswered: false,
    draft: '',
    continuations: 0,
    emptyResponses: 0,
    sentBack: 0,
    words: [],
    saving: Promise.resolve(),
    report,
    tell,
    pending: [],
    request: (words = []) => ({
      system: options.system,
      messages: withDraft(options.messages, run.draft),
      tools: options.toolbox.definitions,
      toolsDisabled: false,
      ...(words.length > 0 && { transient: words.join('\n\n') }),
      maxOutputTokens: options.maxOutputTokens,
      contextLimit,
      signal: clock.signal,
    }),
    used: () => ({
      iteration: run.iteration + 1,
      contextTokens: options.compaction?.mayHelp() ? 0 : mostTokens(run.request(), run.model.name),
      isTimeUp: clock.isTimeToWorkOver(),
    }),
  };
  return run;
}

export function toView(run: Run, report: RunView['report']): RunView {
  return {
    messages: run.messages,
    iteration: run.iteration,
    signal: run.signal,
    report,
    spend: (usage) => {
      run.usage = addUsage(run.usage, usage);
    },
  };
}

/** What was said since the last question, in a run that was broken off. */
function findLastText(messages: readonly Message[]): string {
  const asked = messages.findLastIndex(isQuestion);
  const said = messages
    .slice(asked + 1)
    .findLast((one) => one.role === 'assistant' && one.content.trim() !== '');
  return said?.content ?? '';
}

function withDraft(messages: readonly Message[], draft: string): readonly Message[] {
  return draft === '' ? messages : [...messages, { role: 'assistant', content: draft, toolCalls: [] }];
}
