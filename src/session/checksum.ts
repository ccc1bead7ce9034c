import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import type { Checksum } from './objects.ts';
import { corrupt, type Place } from './read-saved.ts';

/** Passes everything on and knows the checksum of what has passed. */
export function createMeter(onBytes: () => void = () => undefined): Transform & { checksum(): Checksum } {
  const hash = createHash('sha256');
  let bytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      onBytes();
      done(null, chunk);
    },
  });
  return Object.assign(meter, { checksum: () => ({ bytes, sha256: hash.copy().digest('hex') }) });
}

export function checksumOf(text: string): Checksum {
  return { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
}

/** Throws `SessionCorruptError` that names the object. */
export function assertSame(found: Checksum, expected: Checksum, place: Place): void {
  if (found.sha256 === expected.sha256) return;
  const what =
    found.bytes < expected.bytes
      ? `it is cut off: ${found.bytes} of ${expected.bytes} bytes`
      : `it was altered: its checksum is not the one that was saved`;
  throw corrupt(place, what);
}
