import type { PostgresDatabase } from '../../database/database.ts';
import type { Records } from '../records.ts';
import { createCauses } from './causes.ts';
import { createChannel } from './channel.ts';
import { createCosts } from './costs.ts';
import { createSeenEvents } from './events.ts';
import { createFeedback } from './feedback.ts';
import { createLeases } from './leases.ts';
import { keepPurged } from './purge.ts';
import { createRuns } from './runs.ts';
import { migrate } from './schema.ts';

export async function createPostgresRecords(
  database: PostgresDatabase,
  onError: (error: Error) => void,
): Promise<Records> {
  await migrate(database);
  const stopPurging = await keepPurged(database, onError);
  const channel = await createChannel(database, onError);
  return {
    events: createSeenEvents(database),
    runs: createRuns(database),
    costs: createCosts(database),
    leases: createLeases(database),
    causes: createCauses(database),
    feedback: createFeedback(database),
    channel,
    async close() {
      stopPurging();
      await channel.close();
    },
  };
}
