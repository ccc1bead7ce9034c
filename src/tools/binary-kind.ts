/** What bytes that are no text seem to be, and what reads them in a sandbox. */
export interface BinaryKind {
  name: string;
  readers: string;
}

/** So much of the beginning is looked at. */
export const SNIFFED_BYTES = 8_192;

/**
 * Null for text. Bytes may come as text, too, since a command's output does: those above 127 are in there what each
 * sandbox makes of them, U+FFFD or the character of that number. Commands separate names by NULs, files have none.
 */
export function findBinaryKind(content: Buffer | string): BinaryKind | null {
  const start =
    typeof content === 'string'
      ? content.slice(0, SNIFFED_BYTES)
      : content.toString('utf8', 0, SNIFFED_BYTES);
  const maxNulShare = typeof content === 'string' ? MAX_NUL_SHARE : 0;
  return findByMagic(start) ?? (looksLikeText(start, maxNulShare) ? null : UNKNOWN);
}

const UNKNOWN: BinaryKind = { name: 'unknown kind', readers: "file, strings, od or tr -d '\\0'" };
const ZIP: BinaryKind = { name: 'zip', readers: 'unzip -l and unzip -p' };

/** What stands at the start, or not far from it, with U+FFFD for every byte above 127. */
const MAGIC: { magic: string; lastAt?: number; kind: BinaryKind }[] = [
  { magic: '\x1f\ufffd\b', kind: { name: 'gzip', readers: 'zcat, or tar tzf if it is an archive' } },
  { magic: 'PK\x03\x04', kind: ZIP },
  { magic: 'PK\x05\x06', kind: ZIP },
  // Behind the name of a file, whose bytes may have become fewer characters.
  { magic: '\0ustar', lastAt: 256, kind: { name: 'tar', readers: 'tar tf and tar xOf' } },
  { magic: '(\ufffd/\ufffd', kind: { name: 'zstd', readers: 'zstdcat' } },
  { magic: '\ufffd7zXZ\0', kind: { name: 'xz', readers: 'xzcat' } },
  { magic: 'BZh91AY&SY', kind: { name: 'bzip2', readers: 'bz2 of python3' } },
  { magic: '\ufffdPNG\r\n\x1a\n', kind: { name: 'png', readers: 'file' } },
  { magic: '\x7fELF', kind: { name: 'elf', readers: 'file or strings' } },
  { magic: '%PDF-', kind: { name: 'pdf', readers: 'file or strings' } },
  { magic: 'SQLite format 3\0', kind: { name: 'sqlite', readers: 'sqlite3 of python3' } },
];

function findByMagic(start: string): BinaryKind | null {
  const comparable = start.replaceAll(/[\u0080-\u00ff]/g, '\ufffd');
  const found = MAGIC.find(({ magic, lastAt = 0 }) => {
    const at = comparable.indexOf(magic);
    return at !== -1 && at <= lastAt;
  });
  return found?.kind ?? null;
}

// Texts in another encoding, and those with a broken character here and there, can be read all the same.
const MAX_STRANGE_SHARE = 0.15;
const MAX_STRANGE = 4;
// `find -print0` has more than two characters for each; UTF-16 has one.
const MAX_NUL_SHARE = 1 / 3;

function looksLikeText(start: string, maxNulShare: number): boolean {
  const said = start.replaceAll('\0', '');
  if (start.length - said.length > start.length * maxNulShare) return false;
  const controls = said.match(/[\ufffd\p{Cc}]/gu) ?? [];
  const strange = controls.filter((character) => !HARMLESS.includes(character)).length;
  return strange <= Math.max(MAX_STRANGE, said.length * MAX_STRANGE_SHARE);
}

/** Control characters of texts: those that move the cursor, ring or colour. */
const HARMLESS = '\x07\b\t\n\v\f\r\x1b\u0085';
