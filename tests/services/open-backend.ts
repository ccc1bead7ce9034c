import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open-database.ts';
import { openQueue } from '../../src/queue/open-queue.ts';
import type { JobQueue, QueueOptions } from '../../src/queue/queue.ts';
import { openRecords } from '../../src/records/open-records.ts';
import type { Records } from '../../src/records/records.ts';

export interface Opened {
  database: Database;
  records: Records;
  queue: JobQueue;
  errors: Error[];
  close(): Promise<void>;
}

export const fastQueue: QueueOptions = {
  debounceMs: 0,
  debounceMaxMs: 0,
  attempts: 5,
  backoffMs: 40,
  backoffMaxMs: 5_000,
  lockMs: 1_000,
  maxStalled: 20,
  keepFinishedMs: 3_600_000,
};

/** Database, records and queue as the service opens them; `on` shares an open database. */
export async function openAll(
  address: { url: string; keyPrefix: string },
  options: Partial<QueueOptions> = {},
  on?: Database,
): Promise<Opened> {
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const database =
    on ??
    (await openDatabase(address.url, { keyPrefix: address.keyPrefix, onError, learn: () => undefined }));
  const records = await openRecords(database, onError);
  const deps = { database, leases: records.leases, channel: records.channel, onError };
  const queue = await openQueue(deps, { ...fastQueue, ...options });
  return {
    database,
    records,
    queue,
    errors,
    async close() {
      await queue.close();
      await records.close();
      if (!on) await database.close();
    },
  };
}
