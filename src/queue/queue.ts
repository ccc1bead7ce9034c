// The port of the queue: what the webhook adds to it and the worker takes from it.
import { PermanentError } from '../errors.ts';
import type { Job } from './job.ts';

export interface JobQueue {
  /**
   * Durable when it resolves. A job without a merge key is made once for an `eventKey`; of those with one,
   * the first that waits does the work of all that follow (`merged`), with what the last of them says.
   */
  add(job: Job, eventKey: string): Promise<{ id: string; merged: boolean }>;
  /** Removes a waiting job; tells a running one to stop, in whichever process it runs. */
  cancel(id: string, reason: string): Promise<'removed' | 'stopping' | 'not-found'>;
  /** The same, but one that waits is left alone: what came since may have been merged into it. */
  stopRunning(id: string, reason: string): Promise<'stopping' | 'not-found'>;
  /** The job of this merge key that has not begun yet. */
  waiting(mergeKey: string): Promise<{ id: string; job: Job } | null>;
  /** Whether the job of this event, one without a merge key, is yet to be done. */
  stateOf(kind: Job['kind'], eventKey: string): Promise<'pending' | 'done' | 'unknown'>;
  counts(): Promise<QueueCounts>;
  /** Those that are not done, failed ones among them; newest first. */
  list(limit?: number): Promise<ListedJob[]>;
  /** Tries a failed job anew, with all its tries; false when there is no failed job of this id. */
  retry(id: string): Promise<boolean>;
  work(handler: JobHandler, options: WorkOptions): Promise<JobWorker>;
  close(): Promise<void>;
}

export interface ListedJob {
  id: string;
  job: Job;
  state: 'waiting' | 'active' | 'delayed' | 'failed';
  attempts: number;
  addedAt: number;
  /** Why the last try failed. */
  reason: string | null;
}

export interface QueueCounts {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

/** Resolves when done. Throws `PermanentError` to fail for good, `NotYet` to come back later; anything else is tried again with backoff. */
export type JobHandler = (context: JobContext) => Promise<void>;

export interface JobContext {
  id: string;
  job: Job;
  /** 1 for the first try. Restarts after a crash or a handover do not count. */
  attempt: number;
  isLastAttempt: boolean;
  /** Set when it is not to be worked on any more: the handler tells whoever waits for it, and throws this. */
  hopeless?: PermanentError;
  /** Aborted with a `StopRequest`; the handler then saves what it has and throws the reason. */
  signal: AbortSignal;
}

export interface WorkOptions {
  /** Jobs of the work lane that run at once in this worker. */
  concurrency: number;
  /** Jobs of one project that run at once in all workers together. */
  maxConcurrent(job: Job): number;
  onError(error: Error): void;
  onEnd?(context: JobContext, outcome: JobOutcome): void;
}

export type JobOutcome =
  | { kind: 'done' }
  | { kind: 'cancelled'; reason: string }
  | { kind: 'handed-over' }
  | { kind: 'parked' }
  | { kind: 'failed'; error: Error; willRetry: boolean };

export interface JobWorker {
  /** Takes no new jobs, waits up to `graceMs` for the running ones, then hands them to other workers. */
  stop(graceMs: number): Promise<void>;
}

export interface QueueOptions {
  debounceMs: number;
  /** However many events follow each other, the first one waits no longer than this. */
  debounceMaxMs: number;
  attempts: number;
  backoffMs: number;
  backoffMaxMs: number;
  /** A worker that was silent for this long is taken for dead, and its jobs go to others. */
  lockMs: number;
  /** How many dead workers one job may see. */
  maxStalled: number;
  keepFinishedMs: number;
}

/** Thrown by a handler whose job can not begin yet: it steps aside without using up a try. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Under a job, more often than `maxStalled` allows. */
export class WorkersDiedError extends PermanentError {
  readonly deaths: number;

  constructor(deaths: number) {
    super(
      `${deaths} workers died while they had this job, so it is not tried again by itself. ` +
        'Look why, perhaps for want of memory, and try it again by hand.',
    );
    this.deaths = deaths;
  }
}

/** Why a running job was told to stop. */
export class StopRequest extends Error {
  override readonly name = 'StopRequest';
  readonly kind: 'cancelled' | 'shutdown' | 'lock-lost';

  constructor(kind: StopRequest['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The topic on which workers hear that a job of theirs shall stop. */
export const STOP_TOPIC = 'stop-job';

export interface StopMessage {
  id: string;
  reason: string;
}
