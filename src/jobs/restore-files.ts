import type { Logger } from 'pino';
import { isQuestion } from '../agent/history.ts';
import type { Message } from '../agent/messages.ts';
import { RetryableError } from '../errors.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Session } from '../session/session-store.ts';
import { addNotice, FILES_LOST, filesLeftOut } from './notices.ts';
import { openSessionFiles } from './session-files.ts';

/** What survives in the archive of a session. */
export const KEPT_FOLDERS = ['/tmp/_out', '/tmp/data'];

export interface Restoring {
  sandbox: Sandbox;
  session: Session | null;
  messages: Message[];
  noteId: number | undefined;
  log: Logger;
}

/**
 * Puts the files of the session back; the model is told when those it speaks of are not there. Answers whether the
 * sandbox has them now.
 */
export async function restoreFiles({ sandbox, session, messages, noteId, log }: Restoring): Promise<boolean> {
  try {
    const archive = await openSessionFiles(session);
    if (archive) {
      tellOfLeftOut(await sandbox.restore(archive), messages, noteId);
      return true;
    }
  } catch (error) {
    if (error instanceof RetryableError) throw error;
    // The conversation is worth more than the files.
    log.error({ err: error }, 'files of the session could not be restored');
  }
  if (speaksOfFiles(messages)) addNotice(messages, FILES_LOST, noteId);
  return false;
}

/** Once, as long as they are the same. */
function tellOfLeftOut(paths: readonly string[], messages: Message[], noteId: number | undefined): void {
  const notice = filesLeftOut(paths);
  const isTold = messages.some((message) => isQuestion(message) && message.content.includes(notice));
  if (paths.length > 0 && !isTold) addNotice(messages, notice, noteId);
}

/** Since it was last told that they are gone. */
function speaksOfFiles(messages: readonly Message[]): boolean {
  const told = messages.findLastIndex(
    (message) => isQuestion(message) && message.content.includes(FILES_LOST),
  );
  return messages
    .slice(told + 1)
    .filter((message) => !isQuestion(message))
    .map((message) => JSON.stringify(message))
    .some((text) => KEPT_FOLDERS.some((folder) => text.includes(folder)));
}
