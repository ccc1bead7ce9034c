import { createSessionStore, type OpenedStore } from './create-store.ts';
import { createFolderObjects, type OnUnreadable } from './folder/folder-objects.ts';
import { limitTime } from './limit-time.ts';

export interface FolderStoreOptions {
  /** Made when the first session is saved. */
  dir: string;
  /** Without it, what can not be read is an error. */
  onUnreadable?: OnUnreadable;
  /** Of one operation; of a large archive, how long nothing of it may move. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

/** Sessions in a folder of this machine. */
export function openFolderStore({
  dir,
  onUnreadable = fail,
  timeoutMs = TIMEOUT_MS,
}: FolderStoreOptions): OpenedStore {
  return createSessionStore(limitTime(createFolderObjects(dir, onUnreadable), timeoutMs));
}

function fail(_path: string, error: unknown): never {
  throw error;
}
