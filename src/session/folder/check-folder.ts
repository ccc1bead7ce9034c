import { randomUUID } from 'node:crypto';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RetryableError } from '../../errors.ts';

/** Less would soon be full. */
const MIN_FREE_BYTES = 100 * 1024 * 1024;

/** Throws when nothing could be saved in the folder now. */
export async function checkFolder(root: string): Promise<{ freeBytes: number }> {
  const probe = join(root, `.${randomUUID()}.tmp`);
  try {
    await mkdir(root, { recursive: true, mode: 0o700 });
    await writeFile(probe, 'probe');
  } catch (cause) {
    throw new RetryableError(
      `sessions can not be saved in ${root} (${cause instanceof Error ? cause.message : cause}); ` +
        'give this process the right to write there, or change store.dir',
      { cause },
    );
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
  const { bavail, bsize } = await statfs(root);
  const freeBytes = bavail * bsize;
  if (freeBytes < MIN_FREE_BYTES)
    throw new RetryableError(
      `the disk of ${root} has ${freeBytes} bytes left; make room, or lower store.retentionDays`,
    );
  return { freeBytes };
}
