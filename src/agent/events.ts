import type { ToolCall } from './messages.ts';
import type { ModelEvent, Usage } from './model.ts';

/** What the loop says of itself. Watchers only watch: taking them all away changes nothing. */
export type AgentEvent =
  | { type: 'turn-started'; iteration: number; maxIterations: number }
  | { type: 'text-delta' | 'thinking-delta'; text: string }
  /** The arguments of a call while they are written, as JSON. */
  | { type: 'call-delta'; name: string; text: string }
  | ModelEvent
  | { type: 'turn'; iteration: number; text: string; calls: ToolCall[]; usage: Usage; contextTokens: number }
  | { type: 'warning'; kind: WarningKind; iteration: number }
  | { type: 'tool-started'; call: ToolCall }
  | { type: 'tool-progress'; call: ToolCall; text: string }
  | {
      type: 'tool-finished';
      call: ToolCall;
      isError: boolean;
      result: Record<string, unknown>;
      durationMs: number;
    }
  | { type: 'tool-refused'; call: ToolCall; reason: string }
  /** The same calls came with the same results; `step` is how far the loop has gone about it. */
  | { type: 'loop-detected'; call: ToolCall; step: 'refused' | 'dropped' | 'tools-off' }
  /** An answer was not taken as the last word. */
  | { type: 'sent-back'; reason: string }
  /** Whoever was to judge the answer could not, so it passed. */
  | { type: 'judge-failed'; reason: string }
  /** The model can not take a conversation of this size. */
  | { type: 'context-overflow'; reason: string }
  | {
      type: 'compaction';
      how: 'pruned' | 'summarized' | 'truncated';
      tokensBefore: number;
      tokensAfter: number;
    }
  | { type: 'compaction-failed'; reason: string }
  /** What a call besides the turns has used: a summary, a judgement. */
  | { type: 'usage'; purpose: string; model: string; usage: Usage }
  | { type: 'checkpoint'; messages: number }
  /** Somebody told the run to stop. */
  | { type: 'stopped'; reason: string }
  | { type: 'ended'; ending: Ending; reason: string; usage: Usage; iterations: number };

export type WarningKind = 'iterations' | 'context' | 'final-turn' | 'nudge';

export type Ending =
  /** The model was done. */
  | 'answered'
  /** A budget was used up; the model was made to answer. */
  | 'iterations'
  | 'context'
  | 'money'
  | 'time'
  /** The model said nothing, however often it was asked. */
  | 'empty'
  /** Somebody told the run to stop. */
  | 'stopped'
  | 'model-error'
  | 'unexpected-error';
