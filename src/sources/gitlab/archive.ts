import type { Readable } from 'node:stream';
import { type Entry, fromBufferPromise, fromRandomAccessReaderPromise, type ZipFile } from 'yauzl';
import { PermanentError, RetryableError } from '../../errors.ts';
import { limitBytes } from './limit-bytes.ts';
import { PartReader } from './part-reader.ts';
import type { Scope } from './scope.ts';

/** Up to this size an archive is fetched whole; of a larger one only the parts that are needed. */
const MAX_WHOLE_BYTES = 16 * 1024 * 1024;
const MAX_ENTRIES = 20_000;

export interface ArchivedFile {
  path: string;
  /** What the archive says; what comes out may be more. */
  bytes: number;
  /** Fails beyond `maxBytes`, and when it is more than `bytes`. */
  open(maxBytes: number): Promise<Readable>;
}

export interface Archive {
  files: ArchivedFile[];
  /** False: there are so many files that not all were read. */
  isWhole: boolean;
}

/** The job's archive of artifacts. Nothing is written to disk, and names are only names. */
export async function openArchive(
  { client, projectId }: Pick<Scope, 'client' | 'projectId'>,
  { jobId, archiveBytes }: { jobId: number; archiveBytes: number },
  signal: AbortSignal,
): Promise<Archive> {
  const path = `projects/${projectId}/jobs/${jobId}/artifacts`;
  const what = `The archive of job ${jobId}`;
  if (archiveBytes <= MAX_WHOLE_BYTES) {
    const { body } = await client.stream(path, { signal });
    const bytes = await collect(body, what);
    return readFiles(what, () => fromBufferPromise(bytes, OPTIONS));
  }
  const reader = new PartReader(async (first, last) => {
    const { body, status } = await client.stream(path, { signal, range: { first, last } });
    return { body, isPart: status === 206 };
  }, archiveBytes);
  return readFiles(what, () => fromRandomAccessReaderPromise(reader, archiveBytes, OPTIONS));
}

const OPTIONS = { autoClose: false, validateEntrySizes: true };

async function collect(body: Readable, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_WHOLE_BYTES)
      throw new PermanentError(`${what} is larger than GitLab said; it was given up`);
  }
  return Buffer.concat(chunks);
}

async function readFiles(what: string, open: () => Promise<ZipFile>): Promise<Archive> {
  const files: ArchivedFile[] = [];
  try {
    const zip = await open();
    for await (const entry of zip.eachEntry()) {
      if (files.length === MAX_ENTRIES) return { files, isWhole: false };
      if (!entry.fileName.endsWith('/')) files.push(toFile(zip, entry));
    }
    return { files, isWhole: true };
  } catch (error) {
    throw toArchiveError(what, error);
  }
}

function toFile(zip: ZipFile, entry: Entry): ArchivedFile {
  const { fileName: path, uncompressedSize: bytes } = entry;
  return {
    path,
    bytes,
    async open(maxBytes) {
      if (bytes > maxBytes) throw new PermanentError(`${path} has ${bytes} bytes, more than ${maxBytes}`);
      if (entry.isEncrypted()) throw new PermanentError(`${path} is encrypted`);
      try {
        const body = await zip.openReadStreamPromise(entry);
        return limitBytes(body, { maxBytes, what: path, toError: (error) => toArchiveError(path, error) });
      } catch (error) {
        throw toArchiveError(path, error);
      }
    },
  };
}

/** What GitLab or the network said stays as it is; the rest is the archive's fault. */
function toArchiveError(what: string, error: unknown): Error {
  if (error instanceof PermanentError || error instanceof RetryableError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new PermanentError(`${what} can not be unpacked: ${why}`, { cause: error });
}
