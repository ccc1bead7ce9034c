import { PassThrough, pipeline, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { RandomAccessReader } from 'yauzl';
import { PermanentError } from '../../errors.ts';
import { limitBytes } from './limit-bytes.ts';

/** Opens a part of a file, the last byte included; `isPart` is false when all of it came instead. */
export type OpenPart = (first: number, last: number) => Promise<{ body: Readable; isPart: boolean }>;

const BLOCK_BYTES = 1024 * 1024;
/** Of the list of files, which is read before anything else. */
const MAX_LIST_BYTES = 32 * 1024 * 1024;

/** Reads an archive where it lies, in parts: its list of files is at the end, and the rest is not needed for it. */
export class PartReader extends RandomAccessReader {
  readonly #openPart: OpenPart;
  readonly #totalBytes: number;
  #block = { first: 0, bytes: Buffer.alloc(0) };
  #readBytes = 0;

  constructor(openPart: OpenPart, totalBytes: number) {
    super();
    this.#openPart = openPart;
    this.#totalBytes = totalBytes;
  }

  /** yauzl asks for a few bytes at a time; a block of many is fetched for them. */
  override read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.#blockWith(position, length)
      .then(({ first, bytes }) => {
        bytes.copy(target, offset, position - first, position - first + length);
      })
      .then(() => callback(null), callback);
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const out = new PassThrough();
    this.#open(start, end - 1).then(
      // Whoever reads hears of a failure from the stream itself.
      (body) => pipeline(body, out, () => undefined),
      (error) => out.destroy(error),
    );
    return out;
  }

  async #blockWith(position: number, length: number) {
    const { first, bytes } = this.#block;
    if (position >= first && position + length <= first + bytes.length) return this.#block;
    const end = Math.min(position + Math.max(length, BLOCK_BYTES), this.#totalBytes);
    this.#readBytes += end - position;
    if (this.#readBytes > MAX_LIST_BYTES) {
      throw new PermanentError('The archive has too many files to list; ask for one of them by its path');
    }
    this.#block = { first: position, bytes: await buffer(await this.#open(position, end - 1)) };
    if (this.#block.bytes.length < length) throw new PermanentError('The archive ends before it should');
    return this.#block;
  }

  async #open(first: number, last: number): Promise<Readable> {
    const { body, isPart } = await this.#openPart(first, last);
    // A store may send more than it was asked for, without end.
    if (isPart) return limitBytes(body, { maxBytes: last - first + 1, what: 'The part of the archive' });
    body.destroy();
    throw new PermanentError(
      `The archive is large (${this.#totalBytes} bytes) and this GitLab gives it only as a whole; ask for single files by their path`,
    );
  }
}
