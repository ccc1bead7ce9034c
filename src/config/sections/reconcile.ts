import { z } from 'zod';
import { dayMs, durationMs } from '../values.ts';

export const reconcile = z
  .strictObject({
    everyMs: durationMs(0)
      .default(900_000)
      .describe('How often a worker looks for failures and replies that no webhook told of; 0 for never'),
    sinceMs: durationMs(60_000, 30 * dayMs)
      .default(dayMs)
      .describe('How far it looks back'),
  })
  .prefault({})
  .describe('Finding what lost webhooks should have told');
