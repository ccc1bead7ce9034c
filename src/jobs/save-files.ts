import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { type LeftOutFile, type Sandbox, SandboxLostError } from '../sandbox/sandbox.ts';
import type { SessionMeta, SessionStore } from '../session/session-store.ts';
import { KEPT_FOLDERS } from './restore-files.ts';

export interface FileSaver {
  /** Saves the files of the session, unless that would take too much of the run's time. */
  checkpoint(): Promise<void>;
  /** Those that have no room in the session are named in its meta. */
  save(): Promise<void>;
  /** What is not in the files that were saved last. */
  leftOut(): SessionMeta['leftOut'];
}

/** How many times as long as it took to save them the files are not saved again. */
const PAUSE_FACTOR = 10;

export function createFileSaver(
  { store, keepBytes, log, now }: { store: SessionStore; keepBytes: number; log: Logger; now: () => number },
  sandbox: Sandbox,
  { meta, folders }: { meta: SessionMeta; folders: readonly string[] },
): FileSaver {
  const { sessionId } = meta;
  let { leftOut } = meta;
  let nextAt = 0;

  async function save(): Promise<void> {
    const startedAt = performance.now();
    let found: readonly LeftOutFile[] = [];
    try {
      const archive = sandbox.archive([...KEPT_FOLDERS, ...folders], keepBytes, (files) => {
        found = files;
      });
      await store.saveArchive(sessionId, archive);
      await nameLeftOut(found);
    } catch (error) {
      // What was saved before is still there, and is what the sandbox has now.
      if (!(error instanceof SandboxLostError)) throw error;
      log.error({ err: error }, 'files of the session could not be saved');
    }
    const endedAt = performance.now();
    nextAt = endedAt + PAUSE_FACTOR * (endedAt - startedAt);
  }

  async function nameLeftOut(found: readonly LeftOutFile[]): Promise<void> {
    const known = new Map(leftOut.map(({ path, bytes }) => [path, bytes]));
    const named = found.map(({ path, bytes }) => ({ path, bytes: bytes ?? known.get(path) ?? null }));
    if (isDeepStrictEqual(named, leftOut)) return;
    await store.saveMeta(sessionId, { ...meta, leftOut: named, updatedAt: new Date(now()).toISOString() });
    leftOut = named;
  }

  return {
    save,
    async checkpoint() {
      if (performance.now() >= nextAt) await save();
    },
    leftOut: () => leftOut,
  };
}
