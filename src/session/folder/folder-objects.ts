import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PermanentError } from '../../errors.ts';
import { replaceFile, syncFolder } from '../../replace-file.ts';
import { createMeter } from '../checksum.ts';
import type { SessionObjects } from '../objects.ts';
import { type Place, toPlace } from '../read-saved.ts';
import type { StoredObject } from '../session-store.ts';
import { appendLine } from './append-line.ts';
import { checkFolder } from './check-folder.ts';
import { copyFile } from './copy-file.ts';
import { LOCK, placeStamped } from './place-stamped.ts';
import { IN_THE_WAY, openFile, readFile, unlessMissing } from './read-file.ts';

/** Hears of what is left out of a list because it can not be read. */
export type OnUnreadable = (path: string, error: unknown) => void;

/** Objects in a folder of this machine, a folder for each session; only the owner of the process may read them. */
export function createFolderObjects(dir: string, onUnreadable: OnUnreadable): SessionObjects {
  const root = resolve(dir);
  const pathOf = (key: string): string => join(root, key);
  const placeOf = (key: string): Place => toPlace(key, pathOf);

  async function ensureFolder(key: string): Promise<string> {
    const path = pathOf(key);
    const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (made) await syncFolder(dirname(made));
    return path;
  }

  /** What can not be read is told and left out, so that one bad entry does not hide all others. */
  function unlessBad(path: string): (error: unknown) => null {
    return (error) => {
      const { code = '' } = error as NodeJS.ErrnoException;
      // Without the root there is nothing to go on with.
      if (path === root || !IN_THE_WAY.includes(code)) return unlessMissing(error);
      onUnreadable(path, error);
      return null;
    };
  }

  async function* walk(folder: string, withDrafts: boolean): AsyncGenerator<StoredObject> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(unlessBad(folder));
    for (const entry of entries?.toSorted((a, b) => (a.name < b.name ? -1 : 1)) ?? []) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) yield* walk(path, withDrafts);
      else if (withDrafts || isObject(entry.name)) {
        const status = await stat(path).catch(unlessBad(path));
        if (status) yield { name: keyOf(path), bytes: status.size, savedAt: status.mtime };
      }
    }
    if (!withDrafts || entries?.length !== 0) return;
    const status = await stat(folder).catch(unlessBad(folder));
    if (status) yield { name: `${keyOf(folder)}/`, bytes: 0, savedAt: status.mtime };
  }

  function keyOf(path: string): string {
    return relative(root, path).split(sep).join('/');
  }

  return {
    where: (session) => pathOf(session),

    read: (key) => readFile(pathOf(key), placeOf(key)),

    async write(key, content, stamp) {
      const path = await ensureFolder(key);
      if (!stamp) return replaceFile(path, content);
      await replaceFile(path, content, (draft) => placeStamped(draft, path, stamp));
    },

    async writeStream(key, content) {
      const meter = createMeter();
      // Whoever reads the meter hears of what fails before it.
      pipeline(content, meter).catch(() => undefined);
      await replaceFile(await ensureFolder(key), meter);
      return meter.checksum();
    },

    open: (key, expected) => openFile(pathOf(key), expected, placeOf(key)),

    copy: (from, to) => copyFile(pathOf(from), pathOf(to)),

    list: (prefix) => walk(resolve(root, prefix), false),

    listWithDrafts: (prefix) => walk(resolve(root, prefix), true),

    async remove(keys) {
      for (const key of keys) await rm(pathOf(key), { force: true });
    },

    async removeSession(session) {
      const folder = pathOf(session);
      // At once, so that nobody finds a half of it.
      const gone = `${folder}.${randomUUID()}.tmp`;
      await rename(folder, gone).catch(unlessMissing);
      await rm(gone, { recursive: true, force: true });
    },

    async move(session, to) {
      const [folder, aside] = [pathOf(session), pathOf(to)];
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

    append: async (key, line) => appendLine(await ensureFolder(key), line),

    check: () => checkFolder(root),

    close: async () => undefined,
  };
}

/** Not a draft, nor what it is guarded with. */
function isObject(name: string): boolean {
  return !name.endsWith('.tmp') && basename(name) !== LOCK;
}
