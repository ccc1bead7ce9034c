// Where features take part in a run without the loop knowing them. They are asked in their order.
import type { LastTurn } from './budget.ts';
import type { AgentEvent } from './events.ts';
import type { Message, ToolCall } from './messages.ts';
import type { ModelRequest, ModelTurn, Usage } from './model.ts';
import type { ToolOutcome } from './toolbox.ts';

export interface Hooks {
  /** Once, before the first turn of a run. */
  beforeAgent?(run: RunView): Answer<undefined>;
  /** May change the request, make it the last one of the run, or answer it. */
  beforeModel?(
    request: ModelRequest,
    run: RunView,
  ): Answer<{ request: ModelRequest; last?: LastTurn } | { turn: ModelTurn }>;
  afterModel?(turn: ModelTurn, run: RunView): Answer<{ turn: ModelTurn }>;
  /** May refuse a call; the reason is for the model. */
  beforeTool?(call: ToolCall, run: RunView): Answer<{ refuse: string }>;
  afterTool?(call: ToolCall, outcome: ToolOutcome, run: RunView): Answer<{ outcome: ToolOutcome }>;
  /** May send an answer back; the reason is for the model. */
  afterAgent?(answer: string, run: RunView): Answer<{ sendBack: string }>;
}

type Answer<T> = T | undefined | Promise<T | undefined>;

export interface RunView {
  readonly messages: readonly Message[];
  readonly iteration: number;
  readonly signal: AbortSignal;
  report(event: AgentEvent): void;
  /** Counts what a call besides the turns has used. */
  spend(usage: Usage): void;
}

export async function fireBeforeAgent(hooks: readonly Hooks[], run: RunView): Promise<void> {
  for (const hook of hooks) await hook.beforeAgent?.(run);
}

/** The request as the hooks made it, or the turn one of them gave instead of the model. A last one has no tools. */
export async function fireBeforeModel(
  hooks: readonly Hooks[],
  request: ModelRequest,
  run: RunView,
): Promise<{ request: ModelRequest; last: LastTurn | null; turn: ModelTurn | null }> {
  let changed = request;
  let last: LastTurn | null = null;
  for (const hook of hooks) {
    if (!hook.beforeModel) continue;
    const answer = await hook.beforeModel(changed, run);
    if (answer && 'turn' in answer) return { request: changed, last, turn: answer.turn };
    changed = answer?.request ?? changed;
    last ??= answer?.last ?? null;
    if (last) changed = { ...changed, toolsDisabled: true };
  }
  return { request: changed, last, turn: null };
}

export async function fireAfterModel(
  hooks: readonly Hooks[],
  turn: ModelTurn,
  run: RunView,
): Promise<ModelTurn> {
  let changed = turn;
  for (const hook of hooks)
    if (hook.afterModel) changed = (await hook.afterModel(changed, run))?.turn ?? changed;
  return changed;
}

/** The first reason to refuse the call; null when there is none. */
export async function fireBeforeTool(
  hooks: readonly Hooks[],
  call: ToolCall,
  run: RunView,
): Promise<string | null> {
  for (const hook of hooks) {
    const answer = hook.beforeTool && (await hook.beforeTool(call, run));
    if (answer) return answer.refuse;
  }
  return null;
}

export async function fireAfterTool(
  hooks: readonly Hooks[],
  call: ToolCall,
  outcome: ToolOutcome,
  run: RunView,
): Promise<ToolOutcome> {
  let changed = outcome;
  for (const hook of hooks)
    if (hook.afterTool) changed = (await hook.afterTool(call, changed, run))?.outcome ?? changed;
  return changed;
}

/** The first reason to send the answer back; null when there is none. */
export async function fireAfterAgent(
  hooks: readonly Hooks[],
  answer: string,
  run: RunView,
): Promise<string | null> {
  for (const hook of hooks) {
    const verdict = await hook.afterAgent?.(answer, run);
    if (verdict) return verdict.sendBack;
  }
  return null;
}
