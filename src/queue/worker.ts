import { Job as BullJob, DelayedError, UnrecoverableError } from 'bullmq';
import { withDeadline } from '../deadline.ts';
import { PermanentError, RetryableError } from '../errors.ts';
import { type BullWorker, type BullWorkerOptions, createBullWorker, type Stored } from './backend.ts';
import { LANES, type Lane } from './job.ts';
import type { QueueDependencies } from './open-queue.ts';
import { PARK_MS, takePlace } from './place.ts';
import {
  type JobContext,
  type JobHandler,
  type JobOutcome,
  type JobWorker,
  NotYet,
  type QueueOptions,
  STOP_TOPIC,
  type StopMessage,
  StopRequest,
  WorkersDiedError,
  type WorkOptions,
} from './queue.ts';

const SIGNALS_CONCURRENCY = 10;
const CLOSE_MS = 3_000;
/** How often running jobs look whether they are still wanted. */
const WATCH_MS = 1_000;
/** An integer of PostgreSQL. */
const NEVER = 2 ** 31 - 1;
/** How long a job may take to stop when it is told to. */
const ABORT_MS = 10_000;

const LOCK_LOST = new StopRequest('lock-lost', 'another worker has this job now');

interface Running extends Taken {
  done: Promise<unknown>;
}

export async function startWorker(
  deps: QueueDependencies,
  options: QueueOptions,
  work: WorkOptions & { handler: JobHandler },
): Promise<JobWorker> {
  /** Of one job there may be two for a moment: one that has lost it, and the next. */
  const running = new Set<Running>();
  const shutdown = new StopRequest('shutdown', 'the worker is shutting down');
  let stopping = false;

  const unsubscribe = await deps.channel.subscribe(STOP_TOPIC, (message) => {
    const { id, reason } = message as StopMessage;
    stopRunning(id, new StopRequest('cancelled', reason));
  });

  function stopRunning(id: string | undefined, reason: StopRequest): Promise<unknown> {
    const meant = [...running].filter(({ job }) => job.id === id);
    for (const { controller } of meant) controller.abort(reason);
    return Promise.all(meant.map(({ done }) => done));
  }

  const watching = setInterval(
    () => {
      for (const one of running)
        if (!one.controller.signal.aborted) lookAfter(one, options.lockMs).catch(work.onError);
    },
    Math.min(WATCH_MS, options.lockMs / 3),
  );

  const workers = LANES.map((lane) => {
    const created = createBullWorker(
      deps.database,
      lane,
      (job, token) => track(created.worker, job, token ?? ''),
      toWorkerOptions(lane, options, work),
    );
    created.worker.on('error', work.onError);
    created.worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) void stopRunning(id, LOCK_LOST);
    });
    return created;
  });
  // BullMQ remembers a first connection that failed for good, and then asks in an endless loop.
  await Promise.all(workers.map(({ worker }) => worker.waitUntilReady())).catch(async (error) => {
    await closeAll();
    throw error;
  });
  for (const { worker } of workers) worker.run().catch(work.onError);

  async function closeAll(): Promise<void> {
    clearInterval(watching);
    await unsubscribe();
    await Promise.all(
      workers.map(({ worker }) =>
        // Closing waits for the last fetch and says goodbye to the server, which may be away.
        withDeadline(CLOSE_MS, 'closing a worker', worker.close()).catch(() => worker.disconnect()),
      ),
    );
    for (const { disconnect } of workers) disconnect();
  }

  function track(worker: BullWorker, job: BullJob<Stored>, token: string): Promise<void> {
    const controller = new AbortController();
    // BullMQ may still fetch one job after it was paused.
    if (stopping) controller.abort(shutdown);
    const taken = { worker, job, token, controller };
    // It may have come back to us who had lost it, before we were told.
    const done = stopRunning(job.id, LOCK_LOST).then(() => runJob({ deps, options, work }, taken));
    const one = { ...taken, done: done.catch(() => undefined) };
    running.add(one);
    return done.finally(() => running.delete(one));
  }

  return {
    async stop(graceMs) {
      stopping = true;
      await Promise.all(workers.map(({ worker }) => worker.pause(true)));
      const timer = setTimeout(() => {
        for (const { controller } of running) controller.abort(shutdown);
      }, graceMs);
      const all = Promise.all([...running].map(({ done }) => done));
      // A handler that does not listen is left behind; its job is taken over like that of a dead worker.
      await withDeadline(graceMs + ABORT_MS, 'running jobs', all).catch(work.onError);
      clearTimeout(timer);
      await closeAll();
    },
  };
}

interface Setting {
  deps: QueueDependencies;
  options: QueueOptions;
  work: WorkOptions & { handler: JobHandler };
}

interface Taken {
  worker: BullWorker;
  job: BullJob<Stored>;
  token: string;
  controller: AbortController;
}

async function runJob(setting: Setting, taken: Taken): Promise<void> {
  const { worker, job, token, controller } = taken;
  const { work, options } = setting;
  const deaths = job.stalledCounter - (job.data.forgiven ?? 0);
  const hopeless = deaths > options.maxStalled ? new WorkersDiedError(deaths) : undefined;
  const context: JobContext = {
    id: job.id ?? '',
    job: job.data.job,
    attempt: job.attemptsMade + 1,
    isLastAttempt: job.attemptsMade + 1 >= options.attempts,
    signal: controller.signal,
    ...(hopeless && { hopeless }),
  };
  const end = (outcome: JobOutcome): void => work.onEnd?.(context, outcome);

  // A stop request may have come before this process could hear it; then the stored job says so.
  const cancelled = await readCancellation(worker, context.id);
  if (cancelled) controller.abort(new StopRequest('cancelled', cancelled));

  const place = await takePlace(setting, context);
  if (!place) {
    end({ kind: 'parked' });
    await job.moveToDelayed(Date.now() + Math.round(PARK_MS * (0.5 + Math.random())), token);
    throw new DelayedError();
  }

  try {
    // A cancelled job is handled too, so that its records come to an end.
    if (controller.signal.reason?.kind === 'shutdown') throw controller.signal.reason;
    await work.handler(context);
    if (hopeless) throw hopeless;
    end({ kind: 'done' });
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const stop = controller.signal.aborted ? (controller.signal.reason as StopRequest) : null;
    if (stop?.kind === 'cancelled') return end({ kind: 'cancelled', reason: stop.message });
    if (stop?.kind === 'shutdown') {
      end({ kind: 'handed-over' });
      await job.moveToDelayed(Date.now(), token);
      throw new DelayedError();
    }
    if (error instanceof NotYet) {
      end({ kind: 'parked' });
      await job.moveToDelayed(Date.now() + error.retryAfterMs, token);
      throw new DelayedError();
    }
    const permanent = error instanceof PermanentError;
    end({ kind: 'failed', error, willRetry: !permanent && !context.isLastAttempt });
    throw permanent ? new UnrecoverableError(error.message) : error;
  } finally {
    await place.release();
  }
}

/** What BullMQ does not do: the end of one that had lost its job ends the renewal of the lock for the next one too. */
async function lookAfter({ worker, job, token, controller }: Taken, lockMs: number): Promise<void> {
  // The message may be lost, as while the channel reconnects; what is stored with the job is not.
  const reason = await readCancellation(worker, job.id ?? '');
  if (reason) controller.abort(new StopRequest('cancelled', reason));
  else if ((await job.extendLock(token, lockMs)) === 0) controller.abort(LOCK_LOST);
}

async function readCancellation(worker: BullWorker, id: string): Promise<string | undefined> {
  return (await BullJob.fromId<Stored>(worker, id))?.data.cancelled;
}

function toWorkerOptions(lane: Lane, options: QueueOptions, work: WorkOptions): BullWorkerOptions {
  return {
    autorun: false,
    concurrency: lane === 'work' ? work.concurrency : SIGNALS_CONCURRENCY,
    lockDuration: options.lockMs,
    stalledInterval: options.lockMs / 2,
    // BullMQ would fail it without a word to anybody: that is for the handler.
    maxStalledCount: NEVER,
    settings: { backoffStrategy: (attempt, _type, error) => toBackoff(attempt, error, options) },
  };
}

function toBackoff(attempt: number, error: Error | undefined, options: QueueOptions): number {
  const exponential = Math.min(options.backoffMs * 2 ** (attempt - 1), options.backoffMaxMs);
  const asked = error instanceof RetryableError ? (error.retryAfterMs ?? 0) : 0;
  // PostgreSQL takes whole milliseconds only.
  return Math.round(Math.max(asked, exponential * (0.5 + Math.random() / 2)));
}
