import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { readIfThere } from '../read-if-there.ts';
import { versioned } from './session-schema.ts';
import { SessionCorruptError } from './session-store.ts';

const KNOWN_VERSION = 1;

/** Null when there is no such file. Throws `SessionCorruptError` when it holds something else. */
export async function readSaved<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await readText(path);
  if (text === null) return null;
  const value = parse(path, text);
  const version = versioned.safeParse(value).data?.version;
  if (version !== undefined && version > KNOWN_VERSION) {
    throw new SessionCorruptError(
      `${path} was written by a newer Hummingbird (version ${version}, this one knows ${KNOWN_VERSION}). ` +
        `Upgrade this one, or delete ${dirname(path)} to start the session anew.`,
    );
  }
  const checked = schema.safeParse(value);
  if (!checked.success) throw corrupt(path, z.prettifyError(checked.error), checked.error);
  return checked.data;
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readIfThere(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (IN_THE_WAY.includes(code)) throw corrupt(path, `it can not be read (${code})`, error);
    throw error;
  }
}

/** What is no trouble of the disk, but of this file or folder, and stays. */
const IN_THE_WAY = ['EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ELOOP'];

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the conversation.
    throw corrupt(path, `${text.length} characters that are not JSON`, cause);
  }
}

function corrupt(path: string, what: string, cause: unknown): SessionCorruptError {
  return new SessionCorruptError(
    `${basename(path)} of the session in ${dirname(path)} can not be used: ${what}. ` +
      'Mend it, put it back from a backup, or delete that folder to start the session anew.',
    { cause },
  );
}
