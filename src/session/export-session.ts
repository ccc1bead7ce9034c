import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import type { SessionCatalog } from './session-store.ts';

/** Everything of a session in one new file, a tar.gz. Answers how many objects there were. */
export async function exportSession(catalog: SessionCatalog, name: string, file: string): Promise<number> {
  const tar = pack();
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  const writing = pipeline(tar, createGzip(), target);
  const adding = addObjects(tar, catalog, name).catch((error) => {
    tar.destroy(error);
    throw error;
  });
  try {
    const [count] = await Promise.all([adding, writing]);
    return count;
  } catch (error) {
    // One that was there before is not ours.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(file, { force: true });
    throw error;
  }
}

async function addObjects(tar: Pack, catalog: SessionCatalog, name: string): Promise<number> {
  let count = 0;
  for await (const { name: object, bytes, savedAt } of catalog.objects(name)) {
    const content = await catalog.open(name, object);
    const header = { name: `${name}/${object}`, size: bytes, mtime: savedAt, mode: 0o600 };
    await pipeline(content, tar.entry(header));
    count += 1;
  }
  tar.finalize();
  return count;
}
