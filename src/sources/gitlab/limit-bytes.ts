import { type Readable, Transform } from 'node:stream';
import { PermanentError } from '../../errors.ts';

export interface LimitOptions {
  maxBytes: number;
  /** For the message. */
  what: string;
  toError?: (error: Error) => Error;
}

/** The same bytes, up to a limit, then a failure: what comes out of a zip may be far larger than what went in. */
export function limitBytes(source: Readable, options: LimitOptions): Readable {
  const { maxBytes, what, toError = (error) => error } = options;
  let seen = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen <= maxBytes) done(null, chunk);
      else done(new PermanentError(`${what} is larger than ${maxBytes} bytes and was given up`));
    },
  });
  source.on('error', (error) => limited.destroy(toError(error)));
  // Before anybody reads, a failure must not end the process; the reader is still told of it.
  limited.on('error', () => undefined);
  limited.once('close', () => source.destroy());
  return source.pipe(limited);
}
