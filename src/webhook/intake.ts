// From a routed event to a job, exactly once, whatever is away.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { withDeadline } from '../deadline.ts';
import type { JobQueue } from '../queue/queue.ts';
import type { SeenEvents } from '../records/records.ts';
import type { AcceptedEvent, Spool } from './spool.ts';

export type IntakeOutcome =
  | { status: 'queued' | 'merged'; job: string }
  | { status: 'duplicate' }
  | { status: 'spooled' };

export interface Intake {
  /** Throws only when the event could be neither queued nor spooled. */
  accept(event: AcceptedEvent): Promise<IntakeOutcome>;
  stop(): Promise<void>;
}

export interface IntakeOptions {
  queue: Pick<JobQueue, 'add'>;
  events: SeenEvents;
  spool: Spool;
  log: Logger;
  now: () => number;
  rememberMs: number;
}

/** Longer than queueing can take; a claim left behind by a crash is free again after it. */
const CLAIM_MS = 30_000;
const DRAIN_MS = 1_000;
/** Answering GitLab may not wait for a backend that hangs. */
const DEADLINE_MS = 2_000;

export function createIntake({ queue, events, spool, log, now, rememberMs }: IntakeOptions): Intake {
  const stopping = new AbortController();

  async function enqueue(event: AcceptedEvent): Promise<IntakeOutcome | { status: 'held' }> {
    const claim = await events.claim(event.keys, { now: now(), holdMs: CLAIM_MS });
    if (claim === 'known') return { status: 'duplicate' };
    if (claim === 'held') return { status: 'held' };
    try {
      const { id, merged } = await queue.add(event.job, event.eventKey);
      await events.remember(event.keys, { now: now(), holdMs: rememberMs });
      return { status: merged ? 'merged' : 'queued', job: id };
    } catch (error) {
      // If this fails too, the claim runs out by itself.
      await events.release(event.keys).catch(() => undefined);
      throw error;
    }
  }

  async function drain(): Promise<void> {
    await spool.drain(async (event) => {
      const outcome = await enqueue(event);
      return outcome.status === 'held' ? 'later' : 'taken';
    });
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
        const outcome = await withDeadline(DEADLINE_MS, 'queue', enqueue(event));
        return outcome.status === 'held' ? { status: 'duplicate' } : outcome;
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
