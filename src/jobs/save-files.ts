import type { Logger } from 'pino';
import { type Sandbox, SandboxLostError } from '../sandbox/sandbox.ts';
import type { SessionStore } from '../session/session-store.ts';
import { KEPT_FOLDERS } from './restore-files.ts';

export interface FileSaver {
  /** Saves the files of the session, unless that would take too much of the run's time. */
  checkpoint(): Promise<void>;
  save(): Promise<void>;
}

/** How many times as long as it took to save them the files are not saved again. */
const PAUSE_FACTOR = 10;

export function createFileSaver(
  { store, keepBytes, log }: { store: SessionStore; keepBytes: number; log: Logger },
  sandbox: Sandbox,
  { sessionId, folders }: { sessionId: string; folders: readonly string[] },
): FileSaver {
  let nextAt = 0;

  async function save(): Promise<void> {
    const startedAt = performance.now();
    try {
      await store.saveArchive(sessionId, sandbox.archive([...KEPT_FOLDERS, ...folders], keepBytes));
    } catch (error) {
      // What was saved before is still there, and is what the sandbox has now.
      if (!(error instanceof SandboxLostError)) throw error;
      log.error({ err: error }, 'files of the session could not be saved');
    }
    const endedAt = performance.now();
    nextAt = endedAt + PAUSE_FACTOR * (endedAt - startedAt);
  }

  return {
    save,
    async checkpoint() {
      if (performance.now() >= nextAt) await save();
    },
  };
}
