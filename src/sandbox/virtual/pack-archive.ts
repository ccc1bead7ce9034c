import { pipeline, type Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { FileMap } from './file-entry.ts';
import { toSandboxPath } from './sandbox-path.ts';

/** A tar.gz of what lies in the folders. Links stay out: an archive with links is refused when it comes back. */
export function packArchive(files: FileMap, folders: readonly string[]): Readable {
  const roots = folders.map(toSandboxPath);
  const tar = pack();
  for (const path of [...files.keys()].sort()) {
    const entry = files.get(path);
    if (!entry || !roots.some((root) => isWithin(path, root))) continue;
    const name = path.slice(1);
    if (entry.kind === 'folder') tar.entry({ name, type: 'directory', mode: 0o755 });
    if (entry.kind !== 'file') continue;
    const { bytes, mode, mtimeMs } = entry;
    tar.entry({ name, type: 'file', mode, mtime: new Date(mtimeMs), size: bytes.byteLength }, bytes);
  }
  tar.finalize();
  const gzip = createGzip();
  // An error of either ends the other, and whoever reads the result sees it.
  pipeline(tar, gzip, () => undefined);
  return gzip;
}

function isWithin(path: string, root: string): boolean {
  return root === '/' || path === root || path.startsWith(`${root}/`);
}
