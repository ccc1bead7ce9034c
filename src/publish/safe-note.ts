import { makeSafe, type SafeTextOptions } from './safe-text.ts';
import { toPlainLines } from './visible-text.ts';

export interface SafeNoteOptions extends Omit<SafeTextOptions, 'maxBytes'> {
  /** Takes secrets out of it. */
  redact: (text: string) => string;
  maxBytes?: number | undefined;
}

// Far below GitLab's limit of a million characters: nobody reads more.
const DEFAULT_MAX_BYTES = 60_000;
/** The last paragraph, small: under which circumstances the note was written. */
const FOOTER = /\n\n(<sub>[^\n]{1,2000}<\/sub>)\s*$/;

/** A whole note as it may be posted. What is too long is cut before the footer, which stays. */
export function makeNoteSafe(
  text: string,
  { redact, maxBytes = DEFAULT_MAX_BYTES, ...options }: SafeNoteOptions,
): string {
  // As it will be seen: a character that is not could stand within a secret.
  const body = redact(toPlainLines(text));
  const [found, footer] = FOOTER.exec(body) ?? [];
  if (found === undefined || footer === undefined) return makeSafe(body, { ...options, maxBytes });
  const end = makeSafe(footer, { ...options, maxBytes });
  const room = maxBytes - Buffer.byteLength(end) - 2;
  const rest = makeSafe(body.slice(0, -found.length), { ...options, maxBytes: room });
  return rest === '' ? end : `${rest}\n\n${end}`;
}
