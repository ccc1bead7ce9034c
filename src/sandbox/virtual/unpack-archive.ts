import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { PermanentError } from '../../errors.ts';
import { SandboxFullError } from '../sandbox.ts';
import { collectBytes } from './collect-bytes.ts';
import { type FileChange, toStoredFile } from './file-entry.ts';
import { type FileCaps, tooManyBytes, tooManyFiles } from './file-tree.ts';
import { foldersAbove, toSandboxPath } from './sandbox-path.ts';

/**
 * Reads a whole archive before any of it counts. Throws `PermanentError` for what no sandbox has packed,
 * `SandboxFullError` for what is too large, and the stream's own error when it could not be read.
 */
export async function unpackArchive(archive: Readable, caps: FileCaps): Promise<FileChange[]> {
  const changes = new Map<string, FileChange>();
  const tar = extract();
  let sourceError: unknown;
  archive.once('error', (error) => {
    sourceError = error;
  });

  try {
    const reading = pipeline(archive, createGunzip(), limitBytes(caps), tar);
    await Promise.all([reading, readEntries()]);
  } catch (error) {
    if (sourceError !== undefined) throw sourceError;
    if (error instanceof SandboxFullError || error instanceof PermanentError) throw error;
    throw new PermanentError('The archive is broken; go on without its files', { cause: error });
  }
  return [...changes.values()];

  async function readEntries(): Promise<void> {
    let bytesSoFar = 0;
    for await (const source of tar) {
      const path = toEntryPath(source.header);
      const above = foldersAbove(path).find((folder) => changes.get(folder)?.entry?.kind === 'file');
      if (above) throw refused(source.header, `${above} is a file`);
      if (changes.size >= caps.maxFiles) throw tooManyFiles(caps.maxFiles);
      if (source.header.type === 'directory') {
        source.resume();
        changes.set(path, { path, entry: { kind: 'folder' } });
        continue;
      }
      bytesSoFar += source.header.size;
      if (bytesSoFar > caps.maxBytes) throw tooManyBytes(caps.maxBytes);
      const bytes = await collectBytes(Readable.from(source), () => undefined);
      const { mode, mtime } = source.header;
      const entry = { ...toStoredFile(bytes, mtime.getTime()), mode: mode & 0o777 };
      changes.set(path, { path, entry });
    }
  }
}

/** Counts what comes out of the decompressor, so that a bomb ends before it is held. */
function limitBytes({ maxBytes, maxFiles }: FileCaps): Transform {
  // Each file brings its header, a longer one for a long name, and padding.
  const limit = maxBytes + (maxFiles + 1) * 4096;
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.byteLength;
      if (seen <= limit) done(null, chunk);
      else done(tooManyBytes(maxBytes));
    },
  });
}

function toEntryPath(header: Header): string {
  const { name, type } = header;
  if (type !== 'file' && type !== 'directory') throw refused(header, `a ${type}`);
  if (name.startsWith('/')) throw refused(header, 'an absolute path');
  if (name.split('/').includes('..')) throw refused(header, 'a path that leads outside');
  try {
    return toSandboxPath(`/${name}`);
  } catch (error) {
    throw refused(header, error instanceof Error ? error.message : String(error));
  }
}

function refused({ name }: Header, why: string): PermanentError {
  return new PermanentError(
    `The archive is refused, go on without its files: ${JSON.stringify(name)} is ${why}`,
  );
}
