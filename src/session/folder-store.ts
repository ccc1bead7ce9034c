import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { PermanentError } from '../errors.ts';
import { replaceFile, syncFolder } from '../replace-file.ts';
import { appendLine } from './append-line.ts';
import { readSaved } from './read-saved.ts';
import { sessionContext, sessionMeta } from './session-schema.ts';
import { type Session, SessionCorruptError, type SessionStore } from './session-store.ts';

export interface FolderStoreOptions {
  /** Made when the first session is saved. */
  dir: string;
}

/** Sessions in a folder of this machine, one folder each; only the owner of the process may read them. */
export function openFolderStore({ dir }: FolderStoreOptions): SessionStore {
  const root = resolve(dir);
  /** The last append of each session, so that the next one follows it. */
  const appends = new Map<string, Promise<void>>();

  async function ensureFile(id: string, name: FileName): Promise<string> {
    const folder = folderOf(root, id);
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (made) await syncFolder(root);
    return join(folder, name);
  }

  return {
    async load(id) {
      const folder = folderOf(root, id);
      const context = await readSaved(join(folder, 'context.json' satisfies FileName), sessionContext);
      if (!context) return null;
      return {
        context,
        ...(await readMeta(join(folder, 'meta.json' satisfies FileName))),
        openArchive: () => openIfThere(join(folder, 'sandbox.tar.gz' satisfies FileName)),
      };
    },

    async saveHistory(id, messages) {
      const folder = join(folderOf(root, id), 'history');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const number = (await readdir(folder)).filter((name) => name.endsWith('.json')).length + 1;
      const file = join(folder, `${number.toString().padStart(4, '0')}.json`);
      await replaceFile(file, JSON.stringify({ version: 1, messages }));
    },

    async setAside(id, why) {
      const folder = folderOf(root, id);
      const aside = `${folder}.${Date.now()}.${why}`;
      try {
        await rename(folder, aside).catch(unlessMissing);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new PermanentError(
          `The session in ${folder} could not be set aside as ${aside} (${reason}). ` +
            `Move it away by hand, or give this process the right to write to ${root}.`,
          { cause },
        );
      }
    },

    async saveContext(id, context) {
      await replaceFile(await ensureFile(id, 'context.json'), JSON.stringify(context));
    },

    async saveMeta(id, meta) {
      await replaceFile(await ensureFile(id, 'meta.json'), `${JSON.stringify(meta, null, 2)}\n`);
    },

    async saveArchive(id, archive) {
      await replaceFile(await ensureFile(id, 'sandbox.tar.gz'), archive);
    },

    async appendTranscript(id, event) {
      // Now, not when its turn comes: the caller may go on to change it.
      const line = JSON.stringify(event);
      const before = appends.get(id) ?? Promise.resolve();
      const append = before
        .catch(() => undefined)
        .then(async () => appendLine(await ensureFile(id, 'transcript.jsonl'), line));
      appends.set(id, append);
      try {
        await append;
      } finally {
        if (appends.get(id) === append) appends.delete(id);
      }
    },
  };
}

type FileName = 'context.json' | 'meta.json' | 'sandbox.tar.gz' | 'transcript.jsonl';

function folderOf(root: string, id: string): string {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(id)) {
    throw new PermanentError(
      `Not the id of a session (letters, digits and -, at most 64): ${JSON.stringify(id)}`,
    );
  }
  return join(root, id);
}

async function readMeta(path: string): Promise<Pick<Session, 'meta' | 'metaError'>> {
  try {
    return { meta: await readSaved(path, sessionMeta), metaError: null };
  } catch (error) {
    if (error instanceof SessionCorruptError) return { meta: null, metaError: error };
    throw error;
  }
}

async function openIfThere(path: string): Promise<Readable | null> {
  try {
    const handle = await open(path, 'r');
    return handle.createReadStream();
  } catch (error) {
    return unlessMissing(error);
  }
}

function unlessMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}
