// Sessions that could not be saved at the end of a run: kept on this machine, and saved when that can be done again.
import type { Logger } from 'pino';
import type { OpenedStore } from '../session/create-store.ts';
import { createTurns } from '../session/in-turn.ts';
import { SessionCorruptError, type SessionStore, SessionTakenError } from '../session/session-store.ts';
import { openSessionFiles } from './session-files.ts';

export interface Spool {
  /** What is saved here is delivered. */
  store: SessionStore;
  /** If there is one. Throws when it can not be saved now: whoever went on without it would lose it. */
  deliver(id: string): Promise<void>;
  /** As many as can be. Answers how many are left. */
  deliverAll(): Promise<number>;
}

export function createSpool({ from, to, log }: { from: OpenedStore; to: SessionStore; log: Logger }): Spool {
  const inTurn = createTurns();

  async function deliverNow(id: string): Promise<void> {
    try {
      const session = await from.load(id);
      if (!session) return;
      const archive = await openSessionFiles(session);
      const files = archive ? [await to.saveFiles(id, archive)] : [];
      await to.saveContext(id, { ...session.context, files });
      if (session.meta) await to.saveMeta(id, session.meta);
    } catch (error) {
      const isHopeless = error instanceof SessionTakenError || error instanceof SessionCorruptError;
      if (!isHopeless) throw error;
      log.error({ err: error, session: id }, 'a session that was kept on this machine is of no use any more');
      return from.setAside(id, 'bad');
    }
    await from.catalog.remove(id);
    log.info({ session: id }, 'a session that was kept on this machine has been saved');
  }

  const deliver = (id: string): Promise<void> => inTurn(id, () => deliverNow(id));
  return {
    store: from,
    deliver,
    async deliverAll() {
      let left = 0;
      for await (const { name } of from.catalog.list()) {
        // Set aside before.
        if (name.includes('.')) continue;
        await deliver(name).catch((error) => {
          left += 1;
          log.warn({ err: error, session: name }, 'a session kept on this machine can not be saved yet');
        });
      }
      return left;
    },
  };
}
