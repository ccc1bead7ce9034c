// From a routed event to a job, exactly once, whatever is away.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { withDeadline } from '../deadline.ts';
import { type Enqueued, enqueueOnce } from '../queue/enqueue-once.ts';
import type { JobQueue } from '../queue/queue.ts';
import type { SeenEvents } from '../records/records.ts';
import type { AcceptedEvent, Spool } from './spool.ts';

export type IntakeOutcome = Enqueued | { status: 'spooled' };

export interface Intake {
  /** Throws only when the event could be neither queued nor spooled. */
  accept(event: AcceptedEvent): Promise<IntakeOutcome>;
  stop(): Promise<void>;
}

export interface IntakeOptions {
  queue: Pick<JobQueue, 'add'>;
  events: SeenEvents;
  spool: Spool;
  /** Throws while the queue's backend is away. */
  checkBackend: () => Promise<void>;
  log: Logger;
  now: () => number;
  rememberMs: number;
}

const DRAIN_MS = 1_000;
/** A backend that just came back refuses for a while too. */
const MAX_REFUSALS = 60;
/** How long a delivery waits for another one of the same event. */
const HELD_MS = 1_000;
const HELD_POLL_MS = 50;
/** Answering GitLab may not wait for a backend that hangs. */
const DEADLINE_MS = 2_000;

export function createIntake({
  queue,
  events,
  spool,
  checkBackend,
  log,
  now,
  rememberMs,
}: IntakeOptions): Intake {
  const stopping = new AbortController();
  const refusals = new Map<string, number>();

  const enqueue = (event: AcceptedEvent) => enqueueOnce({ queue, events, now, rememberMs }, event);

  async function drain(): Promise<void> {
    await spool.drain(async (event) => {
      try {
        const outcome = await enqueue(event);
        return outcome.status === 'held' ? 'later' : 'taken';
      } catch (error) {
        // With the backend there, it may be this event that can not be stored; the others shall not wait for it.
        await checkBackend();
        const failures = (refusals.get(event.eventKey) ?? 0) + 1;
        refusals.set(event.eventKey, failures);
        if (failures < MAX_REFUSALS) return 'later';
        refusals.delete(event.eventKey);
        log.error({ err: error, eventKey: event.eventKey }, 'event is refused by the queue, set aside');
        return 'refused';
      }
    });
  }

  /** Somebody else is queueing this event now. If they died doing so, the spool takes it up after their claim. */
  async function enqueueOrWait(event: AcceptedEvent): Promise<IntakeOutcome> {
    const deadline = performance.now() + HELD_MS;
    while (true) {
      const outcome = await enqueue(event);
      if (outcome.status !== 'held') return outcome;
      if (performance.now() > deadline)
        throw new Error('the event is claimed by somebody who does not finish');
      await sleep(HELD_POLL_MS);
    }
  }

  async function drainForever(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(DRAIN_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted || spool.size().events === 0) continue;
      await drain().then(
        () => log.info({ left: spool.size().events }, 'spooled events queued'),
        (error) => log.warn({ err: error, waiting: spool.size().events }, 'spooled events still wait'),
      );
    }
  }
  const draining = drainForever();

  return {
    async accept(event) {
      try {
        return await withDeadline(DEADLINE_MS, 'queue', enqueueOrWait(event));
      } catch (error) {
        log.error({ err: error, eventKey: event.eventKey }, 'event could not be queued, spooling it');
        await spool.put(event);
        return { status: 'spooled' };
      }
    },

    async stop() {
      stopping.abort();
      await draining;
    },
  };
}
