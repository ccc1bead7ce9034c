import type { Readable } from 'node:stream';
import { mergeArchives } from '../sandbox/archive/merge-archives.ts';
import type { Session } from '../session/session-store.ts';

/** The files of a session as one archive; null when it has none. */
export async function openSessionFiles(session: Session | null): Promise<Readable | null> {
  const archives = (await session?.openFiles()) ?? [];
  return archives.length > 0 ? mergeArchives(archives) : null;
}
