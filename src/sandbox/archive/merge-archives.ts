import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, type Pack, pack } from 'tar-stream';
import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import type { PlannedEntry } from './plan-archive.ts';

/** Where an archive of changes tells what is gone: nothing of a sandbox can have this name. */
const REMOVED = 'removed.json';

/** A list of paths, as they are in the sandbox. */
const removedSchema = z.array(z.string());

export function toRemovedEntry(removed: readonly string[]): PlannedEntry[] {
  return removed.length > 0 ? [{ path: `/${REMOVED}`, text: JSON.stringify(removed) }] : [];
}

export type OpenArchive = () => Promise<Readable>;

/**
 * One archive of many, laid over each other in this order. They are read from the last to the first, so that nothing
 * has to be held but names: what a later one has or tells gone is left out of those before it.
 */
export async function mergeArchives(archives: readonly OpenArchive[]): Promise<Readable> {
  const [only, ...others] = archives;
  if (!only) throw new Error('There is no archive to merge');
  if (others.length === 0) return only();
  const tar = pack();
  const merged = new PassThrough();
  // Only packed, not compressed: it is unpacked at once.
  pipeline(tar, createGzip({ level: 0 }), merged).catch(() => undefined);
  addAll(tar, archives.toReversed()).catch((error) => merged.destroy(error));
  merged.once('close', () => tar.destroy());
  return merged;
}

async function addAll(tar: Pack, newestFirst: readonly OpenArchive[]): Promise<void> {
  const settled = new Set<string>();
  for (const open of newestFirst) {
    const own = await addOne(tar, await open(), settled);
    for (const path of own) settled.add(path);
  }
  tar.finalize();
}

/** Answers the paths for which the archives before it do not count any more. */
async function addOne(tar: Pack, archive: Readable, settled: ReadonlySet<string>): Promise<string[]> {
  const own: string[] = [];
  const entries = extract();
  let sourceError: unknown;
  archive.once('error', (error) => {
    sourceError = error;
  });
  const reading = pipeline(archive, createGunzip(), entries);
  reading.catch(() => undefined);
  try {
    for await (const entry of entries) {
      const path = toPath(entry.header.name);
      if (entry.header.name === REMOVED) own.push(...removedSchema.parse(JSON.parse(await text(entry))));
      else if (!settled.has(path)) {
        own.push(path);
        await pipeline(entry, tar.entry({ ...entry.header }));
        continue;
      }
      entry.resume();
    }
    await reading;
    return own;
  } catch (error) {
    if (sourceError !== undefined) throw sourceError;
    throw new PermanentError('The archive is broken; go on without its files', { cause: error });
  } finally {
    entries.destroy();
  }
}

function toPath(name: string): string {
  return `/${name.replace(/\/+$/, '')}`;
}
