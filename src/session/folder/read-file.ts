import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readIfThere } from '../../read-if-there.ts';
import { assertSame, createMeter } from '../checksum.ts';
import type { Checksum } from '../objects.ts';
import { corrupt, type Place } from '../read-saved.ts';

/** Null when there is no such file. */
export async function readFile(path: string, place: Place): Promise<string | null> {
  try {
    return await readIfThere(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (IN_THE_WAY.includes(code)) throw corrupt(place, `it can not be read (${code})`, error);
    throw error;
  }
}

/** What is no trouble of the disk, but of this file or folder, and stays. */
export const IN_THE_WAY = ['EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ELOOP'];

/** Null when there is no such file. */
export async function openFile(
  path: string,
  expected: Checksum | undefined,
  place: Place,
): Promise<Readable | null> {
  const handle = await open(path, 'r').catch(unlessMissing);
  if (!handle) return null;
  try {
    if (expected) {
      const meter = createMeter();
      await pipeline(handle.createReadStream({ start: 0, autoClose: false }), meter.resume());
      assertSame(meter.checksum(), expected, place);
    }
    return handle.createReadStream({ start: 0 });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function unlessMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}
