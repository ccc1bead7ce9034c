import type { Ending, WarningKind } from './events.ts';
import { CONTEXT_WARNING, FINAL_TURN_WARNING, ITERATION_WARNING } from './prompts.ts';

export interface Limits {
  maxIterations: number;
  contextLimit: number;
  /** How long a run may take, its last turn included; for ever unless told. */
  maxDurationMs?: number;
}

export interface Used {
  /** Of the turn that is planned, from 1. */
  iteration: number;
  /** Of the request that is planned; 0 while compaction takes care of it. */
  contextTokens: number;
  /** The time for everything but a last turn. */
  isTimeUp: boolean;
}

/** At this share of a budget the model is asked to wrap up; at all of it, it gets one last turn without tools. */
const SOFT = 0.8;

/** Why a turn is the last one. */
export type LastTurn = { ending: Ending; reason: string };

export interface TurnPlan {
  last: LastTurn | null;
  warnings: WarningKind[];
  /** Words for this request only. */
  words: string[];
}

/** What the next turn may do and is told, from what was used so far. */
export function planTurn(limits: Limits, used: Used): TurnPlan {
  const last = findLimit(limits, used);
  const plan: TurnPlan = { last: null, warnings: [], words: [] };
  if (last) return makeLast(plan, last);
  if (used.iteration >= SOFT * limits.maxIterations) {
    plan.warnings.push('iterations');
    plan.words.push(ITERATION_WARNING);
  }
  if (used.contextTokens >= SOFT * limits.contextLimit) {
    plan.warnings.push('context');
    plan.words.push(CONTEXT_WARNING);
  }
  return plan;
}

export const CONTEXT_FULL: LastTurn = {
  ending: 'context',
  reason: 'the conversation reached its size limit',
};

export const NO_MONEY_LEFT: LastTurn = {
  ending: 'money',
  reason: 'there was money for one more answer only',
};

export function makeLast(plan: TurnPlan, last: LastTurn): TurnPlan {
  return Object.assign(plan, { last, warnings: ['final-turn'], words: [FINAL_TURN_WARNING] });
}

function findLimit({ maxIterations, contextLimit, maxDurationMs }: Limits, used: Used): LastTurn | null {
  if (used.iteration >= maxIterations)
    return { ending: 'iterations', reason: `all ${maxIterations} turns were used` };
  if (used.contextTokens >= contextLimit) return CONTEXT_FULL;
  if (used.isTimeUp) return { ending: 'time', reason: toTimeReason(maxDurationMs) };
  return null;
}

export function toTimeReason(maxDurationMs = 0): string {
  const minutes = maxDurationMs / 60_000;
  return `the ${minutes < 1 ? minutes.toFixed(1) : Math.round(minutes)} minutes it may take were over`;
}
