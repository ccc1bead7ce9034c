import { closeSync, openSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { assertNext } from '../objects.ts';
import { findStamp } from '../session-schema.ts';
import type { Stamp } from '../session-store.ts';

/** Beside the conversation, in the way of whoever else would replace it now. */
export const LOCK = 'context.lock';
const WAIT_MS = 5_000;

/**
 * Puts the draft of a conversation in its place if its stamp allows. Nothing can come between the look and the
 * renaming: SQLite's file lock is the operating system's, so it holds for all processes and ends with ours.
 */
export async function placeStamped(draft: string, path: string, stamp: Stamp): Promise<void> {
  const lockFile = join(dirname(path), LOCK);
  closeSync(openSync(lockFile, 'a', 0o600));
  const lock = new DatabaseSync(lockFile, { timeout: WAIT_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    assertNext(readStamp(path), stamp, dirname(path));
    renameSync(draft, path);
  } finally {
    lock.close();
  }
}

/** Undefined when there is nothing. */
function readStamp(path: string): string | null | undefined {
  try {
    return findStamp(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
