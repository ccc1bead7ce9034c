import type { ToolCall } from './messages.ts';
import type { ModelEvent, Usage } from './model.ts';

/** What the loop says of itself. Watchers only watch: taking them all away changes nothing. */
export type AgentEvent =
  | { type: 'turn-started'; iteration: number; maxIterations: number }
  | { type: 'text-delta' | 'thinking-delta'; text: string }
  | ModelEvent
  | { type: 'turn'; iteration: number; text: string; calls: ToolCall[]; usage: Usage; contextTokens: number }
  | { type: 'warning'; kind: WarningKind; iteration: number }
  | { type: 'tool-started'; call: ToolCall }
  | {
      type: 'tool-finished';
      call: ToolCall;
      isError: boolean;
      result: Record<string, unknown>;
      durationMs: number;
    }
  | { type: 'checkpoint'; messages: number }
  | { type: 'ended'; ending: Ending; reason: string; usage: Usage; iterations: number };

export type WarningKind = 'iterations' | 'context' | 'final-turn' | 'empty-response' | 'cut-off';

export type Ending =
  /** The model was done. */
  | 'answered'
  /** A budget was used up; the model was made to answer. */
  | 'iterations'
  | 'context'
  /** The model said nothing, however often it was asked. */
  | 'empty'
  /** Somebody told the run to stop. */
  | 'stopped'
  | 'model-error'
  | 'unexpected-error';
