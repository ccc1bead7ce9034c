import { RetryableError } from '../errors.ts';
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

export type Pruned = StoredSession &
  ({ outcome: 'removed' | 'kept-dry-run' | 'in-use' } | { outcome: 'failed'; error: unknown });

/** Removes old sessions, those that were set aside and what is left of broken-off work too, and tells of each. */
export async function* pruneSessions(pruning: Pruning): AsyncGenerator<Pruned> {
  const { catalog, before, dryRun = false } = pruning;
  for (const found of [catalog.list(), catalog.leftovers()])
    for await (const session of found) {
      if (session.savedAt >= before) continue;
      if (dryRun) yield { ...session, outcome: 'kept-dry-run' };
      else yield* pruneOne(pruning, session);
    }
}

async function* pruneOne(
  { catalog, before, whileFree }: Pruning,
  session: StoredSession,
): AsyncGenerator<Pruned> {
  const { name } = session;
  let isStillOld = true;
  const remove = async (): Promise<void> => {
    // It may have been saved, or removed, since it was listed.
    const savedAt = await catalog.savedAt(name);
    isStillOld = savedAt !== null && savedAt < before;
    if (isStillOld) await catalog.remove(name);
  };
  try {
    const isFree = await doIfFree(name, whileFree, remove);
    if (isStillOld) yield { ...session, outcome: isFree ? 'removed' : 'in-use' };
  } catch (error) {
    // The store is away, for all others too.
    if (error instanceof RetryableError) throw error;
    yield { ...session, outcome: 'failed', error };
  }
}

export async function removeIfFree(
  catalog: SessionCatalog,
  name: string,
  whileFree: WhileFree,
): Promise<boolean> {
  return doIfFree(name, whileFree, () => catalog.remove(name));
}

async function doIfFree(name: string, whileFree: WhileFree, work: () => Promise<void>): Promise<boolean> {
  if (!name.includes('.')) return whileFree(name, work);
  // Nobody works on what was set aside.
  await work();
  return true;
}
