import type { SessionCatalog, StoredSession } from './session-store.ts';

/** Does the work unless the session is being worked on, and keeps others from it meanwhile; false when it is. */
export type WhileFree = (sessionId: string, work: () => Promise<void>) => Promise<boolean>;

export interface Pruning {
  catalog: SessionCatalog;
  /** Everything that was last saved before. */
  before: Date;
  whileFree: WhileFree;
  /** Only tell. */
  dryRun?: boolean;
}

export type Pruned = StoredSession & { outcome: 'removed' | 'kept-dry-run' | 'in-use' };

/** Removes old sessions, those that were set aside too, and tells of each. */
export async function* pruneSessions({
  catalog,
  before,
  whileFree,
  dryRun = false,
}: Pruning): AsyncGenerator<Pruned> {
  for await (const session of catalog.list()) {
    if (session.savedAt >= before) continue;
    if (dryRun) yield { ...session, outcome: 'kept-dry-run' };
    else {
      const isRemoved = await removeIfFree(catalog, session.name, whileFree);
      yield { ...session, outcome: isRemoved ? 'removed' : 'in-use' };
    }
  }
}

export async function removeIfFree(
  catalog: SessionCatalog,
  name: string,
  whileFree: WhileFree,
): Promise<boolean> {
  // Nobody works on what was set aside.
  if (name.includes('.')) {
    await catalog.remove(name);
    return true;
  }
  return whileFree(name, () => catalog.remove(name));
}
