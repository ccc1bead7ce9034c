import type { Logger } from 'pino';
import type { Message } from '../agent/messages.ts';
import { withDeadline } from '../deadline.ts';
import { NotYet } from '../queue/queue.ts';
import { type SessionMeta, SessionTakenError } from '../session/session-store.ts';
import type { SessionWriter } from './session-writer.ts';
import type { Spool } from './spool.ts';

const TAKEN_RETRY_MS = 3_000;
/** For all files, to one place; the job goes on for so long after its note is posted. */
const SAVING_MS = 600_000;

/**
 * The answer does not depend on it. What can not be saved now is kept on this machine and saved later; false when it
 * can not be kept either.
 */
export async function saveLast(
  { spool, log }: { spool?: Spool | null; log: Logger },
  writer: SessionWriter,
  messages: readonly Message[],
  meta: SessionMeta,
): Promise<boolean> {
  const session = meta.sessionId;
  try {
    await withDeadline(SAVING_MS, 'saving the session', writer.finish(messages, meta));
    return true;
  } catch (error) {
    if (error instanceof SessionTakenError) throwNotYet(error);
    log.error({ err: error, session }, 'the session could not be saved at the end of its run');
  }
  try {
    if (!spool) return false;
    const keeping = writer.finishInto(spool.store, messages, meta);
    await withDeadline(SAVING_MS, 'keeping the session', keeping);
    log.warn({ session }, 'the session is kept on this machine and saved later');
    return true;
  } catch (error) {
    log.error({ err: error, session }, 'the session could not be kept on this machine either');
    return false;
  }
}

/** Another run has saved the session: this one comes back to what that one has made of it. */
export function throwNotYet(error: unknown): never {
  if (error instanceof SessionTakenError) throw new NotYet(error.message, TAKEN_RETRY_MS);
  throw error;
}
