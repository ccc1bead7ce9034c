// The secrets the service holds, in each form in which they may turn up.
import { FOLDED, isBreakLetter, skipGap } from './bytes.ts';

/** One form of a secret, or a piece of a long one, without what may stand between its characters. */
export interface Needle {
  bytes: Buffer;
  /** Hexadecimal digits come in both cases, and with signs between those of one byte and the next. */
  isHex: boolean;
  /** Every character may be percent-encoded, not only those that have to be. */
  mayBeEncoded: boolean;
}

/** Shorter ones would be found in ordinary words. */
export const MIN_SECRET_CHARS = 6;

/** Of a long secret each piece is looked for alone: less has to be held back, and a part of it is found, too. */
const PIECE_BYTES = 32;
const MAX_WHOLE_BYTES = 2 * PIECE_BYTES;
/** Of longer ones there are too many pieces; those are tokens of a shape, and keys. */
const MAX_TWICE_BYTES = 512;

export function toNeedles(secret: string): Needle[] {
  if (!isLongEnough(secret)) return [];
  const known = new Map(toForms(secret).map((one) => [`${one.isHex}${one.bytes.toString('latin1')}`, one]));
  return [...known.values()];
}

export function isLongEnough(secret: string): boolean {
  return squeeze(Buffer.from(secret)).length >= MIN_SECRET_CHARS;
}

function toForms(secret: string): Needle[] {
  // As it is encoded by itself and, with escaped line ends, as a part of JSON.
  const raws = [...new Set([secret, JSON.stringify(secret).slice(1, -1)])].map((text) => Buffer.from(text));
  const plain = squeeze(Buffer.from(withoutArmour(secret)));
  const isLong = plain.length > MAX_WHOLE_BYTES;
  const forms = isLong ? toPieces(plain) : [plain];
  if (FOLDED[plain[0] ?? 0] && isBreakLetter(plain[0] ?? 0) && plain.length > MIN_SECRET_CHARS)
    // Behind a backslash its first letter would be taken for a line break.
    forms.push(plain.subarray(1, isLong ? PIECE_BYTES : undefined));
  // Taken for gaps, but characters in an address.
  const inUrls = /[ \\]/.test(secret) ? [encodeURIComponent(secret), secret.replaceAll(' ', '+')] : [];
  const once = raws.flatMap(toBase64);
  const isTooLong = secret.length > MAX_TWICE_BYTES;
  const twice = isTooLong ? [] : once.flatMap((text) => toBase64(Buffer.from(text)));
  return [
    ...forms.map((bytes) => ({ bytes, isHex: false, mayBeEncoded: true })),
    ...[...inUrls, ...once, ...twice].flatMap((text) =>
      toPieces(squeeze(Buffer.from(text))).map((bytes) => ({
        bytes,
        isHex: false,
        mayBeEncoded: false,
      })),
    ),
    ...raws.flatMap((raw) =>
      toPieces(Buffer.from(raw.toString('hex')), 2 * PIECE_BYTES).map((bytes) => ({
        bytes,
        isHex: true,
        mayBeEncoded: false,
      })),
    ),
  ];
}

/** The lines around a key are no secret, and stand around others as well. */
function withoutArmour(secret: string): string {
  return secret.replaceAll(/-----(?:BEGIN|END) [A-Z0-9 ]+-----/g, '');
}

function squeeze(bytes: Buffer): Buffer {
  const kept: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    if (FOLDED[byte]) {
      kept.push(byte);
      at += 1;
    } else at = skipGap(bytes, at);
  }
  return Buffer.from(kept);
}

function toPieces(bytes: Buffer, size = PIECE_BYTES): Buffer[] {
  if (bytes.length <= 2 * size) return [bytes];
  const count = Math.floor(bytes.length / size);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * size, index === count - 1 ? undefined : (index + 1) * size),
  );
}

/** Within a larger text there are three ways in which it is cut into groups; the characters at its ends depend on others. */
function toBase64(secret: Buffer): string[] {
  const standard = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), secret]).toString('base64');
    const isWhole = (before + secret.length) % 3 === 0;
    return text.replaceAll('=', '').slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
  });
  const forUrls = standard.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([...standard, ...forUrls])].filter((text) => text.length >= MIN_SECRET_CHARS);
}

/** What may stand between two bytes in hexadecimal, in lower case and without backslashes and blanks. */
export const HEX_SEPARATORS = [':', '-', ',', ';&#x', '0x', 'x', 'u00', '%25'];

/** How a byte may be written, in lower case and without backslashes, which count as gaps. */
export function toSpellings(byte: number, { mayBeEncoded }: Pick<Needle, 'mayBeEncoded'>): string[] {
  const raw = String.fromCharCode(FOLDED[byte] ?? byte);
  const hex = byte.toString(16).padStart(2, '0');
  if (/[\w.~-]/.test(raw)) return mayBeEncoded ? [raw, `%${hex}`] : [raw];
  return [raw, `%${hex}`, `%25${hex}`, `u00${hex}`, `x${hex}`, ...(ENTITIES[raw] ?? [])];
}

const ENTITIES: Record<string, readonly string[]> = {
  '&': ['&amp;', '&#38;', '&#x26;'],
  '<': ['&lt;', '&#60;', '&#x3c;'],
  '>': ['&gt;', '&#62;', '&#x3e;'],
  '"': ['&quot;', '&#34;', '&#x22;'],
  "'": ['&apos;', '&#39;', '&#x27;'],
};
