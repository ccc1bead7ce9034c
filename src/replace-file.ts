import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';

/**
 * Puts new content where the file is, whole or not at all, also when the machine stops in the middle: it is on
 * the disk under another name before it takes the file's. What a stopped process leaves ends in `.tmp`.
 */
export async function replaceFile(
  path: string,
  content: string | Readable,
  putInPlace: (draft: string) => Promise<void> = (draft) => rename(draft, path),
): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await putInPlace(draft);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** A name is on the disk only when its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
