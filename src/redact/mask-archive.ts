import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, type Header, pack } from 'tar-stream';
import type { Redactor } from './redactor.ts';

/** The same tar.gz, with stars for the secrets in its files, which keep their sizes: a command may have unpacked some. */
export function maskArchive(archive: Readable, redactor: Redactor): Readable {
  const entries = extract();
  const packed = pack();
  const out = createGzip();
  const copy = async (): Promise<void> => {
    const reading = pipeline(archive, createGunzip(), entries);
    // Whoever reads the entries is told.
    reading.catch(() => undefined);
    for await (const entry of entries) {
      const header = redactHeader(entry.header, redactor);
      if (header.type === 'file') await pipeline(entry, redactor.maskingStream(), packed.entry(header));
      else {
        packed.entry(header);
        entry.resume();
      }
    }
    await reading;
    packed.finalize();
  };
  Promise.all([copy().catch((error) => packed.destroy(error)), pipeline(packed, out)]).catch((error) =>
    out.destroy(error),
  );
  return out;
}

/** A link that leads elsewhere is better than a secret. */
function redactHeader(header: Header, redactor: Redactor): Header {
  const { name, linkname, uname, gname, pax } = header;
  return {
    ...header,
    name: redactor.text(name),
    ...(linkname && { linkname: redactor.text(linkname) }),
    ...(uname && { uname: redactor.text(uname).slice(0, MAX_OWNER) }),
    ...(gname && { gname: redactor.text(gname).slice(0, MAX_OWNER) }),
    ...(pax ? { pax: redactor.value(pax) } : {}),
  };
}

/** The field has no room for more, and what is longer would run into the next one. */
const MAX_OWNER = 31;
