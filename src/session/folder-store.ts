import { createSessionStore, type OpenedStore } from './create-store.ts';
import { createFolderObjects } from './folder/folder-objects.ts';

export interface FolderStoreOptions {
  /** Made when the first session is saved. */
  dir: string;
}

/** Sessions in a folder of this machine. */
export function openFolderStore({ dir }: FolderStoreOptions): OpenedStore {
  return createSessionStore(createFolderObjects(dir));
}
