import { createSessionStore, type OpenedStore } from './create-store.ts';
import { createFolderObjects, type OnUnreadable } from './folder/folder-objects.ts';

export interface FolderStoreOptions {
  /** Made when the first session is saved. */
  dir: string;
  /** Without it, what can not be read is an error. */
  onUnreadable?: OnUnreadable;
}

/** Sessions in a folder of this machine. */
export function openFolderStore({ dir, onUnreadable = fail }: FolderStoreOptions): OpenedStore {
  return createSessionStore(createFolderObjects(dir, onUnreadable));
}

function fail(_path: string, error: unknown): never {
  throw error;
}
