import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { PermanentError } from '../../errors.ts';
import { type FileCaps, tooManyBytes, tooManyFiles } from '../file-caps.ts';
import { SandboxFullError } from '../sandbox.ts';
import { foldersAbove, toNormalPath } from '../sandbox-path.ts';

export type ArchiveEntry =
  | { kind: 'folder'; path: string }
  /** The body is to be read before the next entry is asked for. */
  | { kind: 'file'; path: string; mode: number; mtimeMs: number; body: Readable };

/**
 * What is in an archive of a sandbox, entry by entry and checked; whoever reads it must undo the entries before if a
 * later one fails. Throws `PermanentError` for what no sandbox has packed, `SandboxFullError` for what is too
 * large, and the stream's own error when it could not be read.
 */
export async function* readArchive(archive: Readable, caps: FileCaps): AsyncGenerator<ArchiveEntry> {
  const tar = extract();
  let sourceError: unknown;
  archive.once('error', (error) => {
    sourceError = error;
  });
  const reading = pipeline(archive, createGunzip(), limitBytes(caps), tar);
  // Whoever reads the entries is told.
  reading.catch(() => undefined);
  const check = createCheck(caps);

  try {
    for await (const source of tar) {
      const entry = check(source.header);
      if (entry.kind === 'file') yield { ...entry, body: Readable.from(withOwnErrors(source)) };
      else yield entry;
      source.resume();
    }
    await reading;
  } catch (error) {
    throw toOwnError(error);
  } finally {
    tar.destroy();
  }

  async function* withOwnErrors(source: AsyncIterable<unknown>) {
    try {
      yield* source;
    } catch (error) {
      throw toOwnError(error);
    }
  }

  function toOwnError(error: unknown): unknown {
    if (sourceError !== undefined) return sourceError;
    if (error instanceof SandboxFullError || error instanceof PermanentError) return error;
    return new PermanentError('The archive is broken; go on without its files', { cause: error });
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

function createCheck({ maxBytes, maxFiles }: FileCaps) {
  const files = new Set<string>();
  const folders = new Set(['/tmp']);
  let entries = 0;
  let bytes = 0;
  return (header: Header) => {
    const path = toEntryPath(header);
    const isFolder = header.type === 'directory';
    for (const folder of isFolder ? [...foldersAbove(path), path] : foldersAbove(path)) {
      if (files.has(folder)) throw refused(header, `in the way of ${folder}, which is a file`);
      folders.add(folder);
    }
    if (!isFolder && folders.has(path)) throw refused(header, 'a file and a folder');
    entries += 1;
    if (entries > maxFiles) throw tooManyFiles(maxFiles);
    if (isFolder) return { kind: 'folder' as const, path };
    files.add(path);
    bytes += header.size;
    if (bytes > maxBytes) throw tooManyBytes(maxBytes);
    return { kind: 'file' as const, path, mode: header.mode & 0o777, mtimeMs: header.mtime.getTime() };
  };
}

function toEntryPath(header: Header): string {
  const { name, type } = header;
  if (type !== 'file' && type !== 'directory') throw refused(header, `a ${type}`);
  if (name.startsWith('/')) throw refused(header, 'an absolute path');
  if (name.split('/').includes('..')) throw refused(header, 'a path that leads outside');
  const path = toNormalPath(`/${name}`);
  // Elsewhere nothing of a sandbox is kept, and what lies there may be of use to its shell.
  if (path !== '/tmp' && !path.startsWith('/tmp/')) throw refused(header, 'not below /tmp');
  return path;
}

function refused({ name }: Header, why: string): PermanentError {
  return new PermanentError(
    `The archive is refused, go on without its files: ${JSON.stringify(name)} is ${why}`,
  );
}
