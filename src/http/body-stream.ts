import { PassThrough, type Readable } from 'node:stream';

/** The same bytes at the reader's pace; what breaks them off is told in our words. */
export function toBodyStream(source: Readable, toError: (error: unknown) => Error): Readable {
  const stream = new PassThrough();
  source.on('error', (error) => stream.destroy(toError(error)));
  // An abort before the reader has begun must not end the process; the reader still gets the error.
  stream.on('error', () => undefined);
  // A reader that has seen enough must not leave the rest running.
  stream.once('close', () => source.destroy());
  return source.pipe(stream);
}
