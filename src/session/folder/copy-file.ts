import { randomUUID } from 'node:crypto';
import { copyFile as copyBytes, link, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../../replace-file.ts';

/** Puts the same file under another name too; it is never written into, so it need not be there twice. */
export async function copyFile(from: string, to: string): Promise<void> {
  const draft = `${to}.${randomUUID()}.tmp`;
  try {
    await link(from, draft).catch((error: NodeJS.ErrnoException) => {
      if (!NO_LINKS.includes(error.code ?? '')) throw error;
      return copyBytes(from, draft);
    });
    await rename(draft, to);
  } finally {
    // Where both names are the same file already, renaming has done nothing.
    await rm(draft, { force: true });
  }
  await syncFolder(dirname(to));
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EMLINK', 'ENOSYS'];
