import type { WarningKind } from './events.ts';
import {
  CONTEXT_WARNING,
  CUT_OFF_NUDGE,
  EMPTY_RESPONSE_NUDGE,
  FINAL_TURN_WARNING,
  ITERATION_WARNING,
} from './prompts.ts';

export interface BudgetLimits {
  maxIterations: number;
  contextLimit: number;
}

/** At this share of a budget the model is asked to wrap up; at all of it, it gets one last turn without tools. */
const SOFT = 0.8;

const WORDS: Record<WarningKind, string> = {
  iterations: ITERATION_WARNING,
  context: CONTEXT_WARNING,
  'final-turn': FINAL_TURN_WARNING,
  'empty-response': EMPTY_RESPONSE_NUDGE,
  'cut-off': CUT_OFF_NUDGE,
};

export interface TurnPlan {
  isFinal: boolean;
  warnings: WarningKind[];
  /** The words for this request only; undefined when there is nothing to say. */
  transient: string | undefined;
}

/** What the next turn may do and is told, from what was used so far. */
export function planTurn(
  limits: BudgetLimits,
  used: { iteration: number; contextTokens: number; nudge: 'empty-response' | 'cut-off' | null },
): TurnPlan {
  const isFinal = used.iteration >= limits.maxIterations || used.contextTokens >= limits.contextLimit;
  const warnings: WarningKind[] = isFinal ? ['final-turn'] : softWarnings(limits, used);
  if (used.nudge) warnings.push(used.nudge);
  const transient = warnings.map((warning) => WORDS[warning]).join('\n\n');
  return { isFinal, warnings, transient: transient || undefined };
}

function softWarnings(
  limits: BudgetLimits,
  used: { iteration: number; contextTokens: number },
): WarningKind[] {
  const warnings: WarningKind[] = [];
  if (used.iteration >= SOFT * limits.maxIterations) warnings.push('iterations');
  if (used.contextTokens >= SOFT * limits.contextLimit) warnings.push('context');
  return warnings;
}
