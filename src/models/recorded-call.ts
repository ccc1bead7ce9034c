import { z } from 'zod';
import type { ModelError, ModelEvent, ModelTurn } from '../agent/model.ts';
import type { AskedRequest } from './asked-request.ts';

export interface RecordedCall {
  role: ModelRole;
  /** Who answered, or failed last. */
  model: string;
  request: AskedRequest;
  events: ModelEvent[];
  /** Whether there was money for another one after it. */
  couldGoOn: boolean;
  /** Of all its tries. */
  costMicroUsd: number;
  answer: RecordedAnswer;
}

/** The one of the conversation, or the one for summaries and judgements. */
export type ModelRole = 'main' | 'side';

export type RecordedAnswer =
  | { turn: ModelTurn }
  | { error: { kind: ModelError['kind']; message: string; retryAfterMs?: number } };

// Loose: what is not looked at here is compared, or goes back to where it came from.
export const callSchema = z.looseObject({
  role: z.enum(['main', 'side']),
  model: z.string(),
  request: z.looseObject({}),
  events: z.array(z.looseObject({ type: z.enum(['retry', 'fallback']) })),
  couldGoOn: z.boolean(),
  costMicroUsd: z.number().min(0),
  answer: z.union([
    z.looseObject({
      turn: z.looseObject({
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z.string(),
          toolCalls: z.array(
            z.looseObject({ id: z.string(), name: z.string(), arguments: z.looseObject({}) }),
          ),
        }),
        usage: z.looseObject({
          inputTokens: z.number(),
          cacheReadTokens: z.number(),
          cacheWriteTokens: z.number(),
          outputTokens: z.number(),
        }),
        stop: z.enum(['end', 'tool-calls', 'length', 'other']),
      }),
    }),
    z.looseObject({
      error: z.looseObject({
        kind: z.enum(['retry', 'switch', 'too-long', 'no-money', 'stop']),
        message: z.string(),
        retryAfterMs: z.number().optional(),
      }),
    }),
  ]),
});
