// The port of a model. Adapters live elsewhere; the loop knows only this.
import type { AssistantMessage, Message } from './messages.ts';

export interface Model {
  /** `provider/model`, for logs and the note's footer: the one that answers now. */
  readonly name: string;
  /** One turn. Throws `ModelError`, or the signal's reason when aborted. */
  generate(request: ModelRequest): Promise<ModelTurn>;
  /** Whether, after this request, there is money for another one; left out when nobody counts. */
  canGoOn?(request: ModelRequest): Promise<boolean>;
}

export interface ModelRequest {
  /** The same bytes for every request of a run. */
  system: string;
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  /** The tools stay declared, but must not be called in this turn. */
  toolsDisabled: boolean;
  /** Words for this request only, sent as a trailing user text and never saved. */
  transient?: string;
  maxOutputTokens: number;
  /** In tokens, as the model counts that is sent it; it is never sent more. */
  contextLimit?: number;
  signal: AbortSignal;
  /** Hears the turn while it is being written. */
  onDelta?: (delta: Delta) => void;
  /** Hears what went wrong on the way. What was heard of the turn before that does not count any more. */
  onEvent?: (event: ModelEvent) => void;
}

export type Delta =
  | { kind: 'text' | 'thinking'; text: string }
  /** A piece of a call's arguments, as JSON. */
  | { kind: 'call'; name: string; text: string };

export type ModelEvent =
  /** The same model is asked again after a wait; `attempt` is the one that failed, from 1. */
  | { type: 'retry'; model: string; attempt: number; waitMs: number; reason: string }
  /** Another model is asked from now on. */
  | { type: 'fallback'; from: string; to: string; reason: string };

export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments: an object. */
  inputSchema: Record<string, unknown>;
  /** Its words are somebody else's, and may be anything. */
  isForeign?: boolean;
}

export interface ModelTurn {
  message: AssistantMessage;
  usage: Usage;
  /** `length`: cut off by the output limit. */
  stop: 'end' | 'tool-calls' | 'length' | 'other';
}

/** Tokens as billed; the three kinds of input do not overlap. Thinking counts as output. */
export interface Usage {
  inputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

/** How large the conversation was for the model, cached or not. */
export function contextTokens(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}

export class ModelError extends Error {
  override readonly name = 'ModelError';
  /**
   * `retry`: the same request may work soon. `switch`: not with this model or key.
   * `too-long`: the conversation does not fit. `stop`: the request itself is wrong.
   * `no-money`: a limit in USD would be exceeded, so nobody was asked.
   */
  readonly kind: 'retry' | 'switch' | 'too-long' | 'stop' | 'no-money';
  /** How long the server asked us to wait. */
  readonly retryAfterMs: number | undefined;
  /** It is certain that the model did not begin, so nobody will bill it. */
  readonly unbilled: boolean;

  constructor(
    kind: ModelError['kind'],
    message: string,
    options: { cause?: unknown; retryAfterMs?: number; unbilled?: boolean } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.unbilled = options.unbilled ?? false;
  }
}
