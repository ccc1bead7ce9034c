import type { Logger } from 'pino';
import { whileSessionIsFree } from '../jobs/session-lock.ts';
import type { Spool } from '../jobs/spool.ts';
import type { Records } from '../records/records.ts';
import type { OpenedStore } from '../session/create-store.ts';
import { pruneSessions } from '../session/prune.ts';

export interface UpkeepOptions {
  store: OpenedStore;
  spool: Spool | null;
  retentionDays: number;
  records: Records;
  log: Logger;
  now: () => number;
}

const DELIVER_MS = 15_000;
const MAX_DELIVER_MS = 600_000;
const PRUNE_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** What is done for sessions while a worker runs: saving what could not be saved, and removing what is too old. */
export function startUpkeep({ store, spool, retentionDays, records, log, now }: UpkeepOptions): {
  stop(): Promise<void>;
} {
  const prune = async (): Promise<number> => {
    const before = new Date(now() - retentionDays * DAY_MS);
    const whileFree = whileSessionIsFree({ records, log });
    for await (const pruned of pruneSessions({ catalog: store.catalog, before, whileFree })) {
      const { name: session, savedAt, outcome } = pruned;
      if (pruned.outcome === 'failed')
        log.warn({ session, err: pruned.error }, 'session could not be removed');
      else log.info({ session, savedAt, outcome }, 'session is older than store.retentionDays');
    }
    return PRUNE_MS;
  };
  let waitMs = DELIVER_MS;
  const deliver = async (): Promise<number> => {
    const left = (await spool?.deliverAll()) ?? 0;
    waitMs = left > 0 ? Math.min(2 * waitMs, MAX_DELIVER_MS) : DELIVER_MS;
    return waitMs;
  };
  const loops = [
    repeat(prune, PRUNE_MS, (error) => log.warn({ err: error }, 'old sessions could not be removed')),
    repeat(deliver, DELIVER_MS, (error) =>
      log.warn({ err: error }, 'unsaved sessions could not be looked for'),
    ),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** Again and again, as long after its end as it says. */
function repeat(work: () => Promise<number>, afterErrorMs: number, onError: (error: unknown) => void) {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const turn = async (): Promise<void> => {
    const waitMs = await work().catch((error) => {
      onError(error);
      return afterErrorMs;
    });
    if (!isStopped) timer = setTimeout(start, waitMs).unref();
  };
  let running: Promise<void> = Promise.resolve();
  function start(): void {
    running = turn();
  }
  start();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
