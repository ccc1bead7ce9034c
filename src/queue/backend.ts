// BullMQ's classes on whichever database there is; the only place that knows the difference.
import {
  createPostgresBackend,
  type Processor,
  Queue,
  runMigrations,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import type { Database } from '../database/database.ts';
import type { Job } from './job.ts';

/** What BullMQ stores. A cancellation stays with the job, so that a worker's crash does not revive it. */
export interface Stored {
  job: Job;
  cancelled?: string;
  /** Deaths of its workers that count no more, since it was tried anew by hand. */
  forgiven?: number;
}

export type BullQueue = Queue<Stored, void, string>;
export type BullWorker = Worker<Stored, void, string>;
export type BullProcessor = Processor<Stored, void, string>;
export type BullWorkerOptions = Omit<WorkerOptions, 'connection' | 'prefix'>;

export async function prepareBackend(database: Database): Promise<void> {
  if (database.kind !== 'postgres') return;
  const client = await database.pool.connect();
  try {
    await runMigrations(client, 'bullmq');
  } finally {
    client.release();
  }
}

export function createBullQueue(database: Database, name: string): BullQueue {
  if (database.kind === 'redis')
    return new Queue(name, { connection: database.client, prefix: database.keyPrefix });
  return new Queue(name, { connection: database.pool }, createPostgresBackend) as unknown as BullQueue;
}

export function createBullWorker(
  database: Database,
  name: string,
  processor: BullProcessor,
  options: BullWorkerOptions,
): { worker: BullWorker; disconnect(): void } {
  if (database.kind === 'redis') {
    // Blocking reads must survive an outage, so these connections wait instead of failing fast.
    const connection = database.connect({ maxRetriesPerRequest: null });
    const worker = new Worker(name, processor, { ...options, connection, prefix: database.keyPrefix });
    return { worker, disconnect: () => connection.disconnect() };
  }
  const worker = new Worker(
    name,
    processor,
    { ...options, connection: database.pool },
    createPostgresBackend,
  );
  return { worker: worker as unknown as BullWorker, disconnect: () => undefined };
}
