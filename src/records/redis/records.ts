import type { RedisDatabase } from '../../database/database.ts';
import type { Records } from '../records.ts';
import { createCauses } from './causes.ts';
import { createChannel } from './channel.ts';
import { createCosts } from './costs.ts';
import { createSeenEvents } from './events.ts';
import { createFeedback } from './feedback.ts';
import { createLeases } from './leases.ts';
import { createRuns } from './runs.ts';

export async function createRedisRecords(
  database: RedisDatabase,
  onError: (error: Error) => void,
): Promise<Records> {
  const channel = await createChannel(database, onError);
  return {
    events: createSeenEvents(database),
    runs: createRuns(database),
    costs: createCosts(database),
    leases: createLeases(database),
    causes: createCauses(database),
    feedback: createFeedback(database),
    channel,
    close: () => channel.close(),
  };
}
