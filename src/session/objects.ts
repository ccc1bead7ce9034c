// The port of the place where sessions lie: named objects, each written whole or not at all.
import type { Readable } from 'node:stream';
import { SessionTakenError, type Stamp, type StoredObject } from './session-store.ts';

/** A key is the name of a session, `/` and the name of something of it. */
export interface SessionObjects {
  /** For people. */
  where(session: string): string;
  /** Null when there is none. Throws `SessionCorruptError` when it is not what was written. */
  read(key: string): Promise<string | null>;
  /** Replaces what is there; with a stamp only as `assertNext` allows. */
  write(key: string, content: string, stamp?: Stamp): Promise<void>;
  writeStream(key: string, content: Readable): Promise<Checksum>;
  /** Null when there is none. With a checksum, throws `SessionCorruptError` before anything that differs is given. */
  open(key: string, expected?: Checksum): Promise<Readable | null>;
  copy(from: string, to: string): Promise<void>;
  /** In the order of their keys. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Those that were never finished too, and empty folders, which end in `/`; null where neither is ever left. */
  listWithDrafts: ((prefix: string) => AsyncIterable<StoredObject>) | null;
  /** What is not there is gone already. */
  remove(keys: readonly string[]): Promise<void>;
  /** All that there is of it, also what was never finished. */
  removeSession(session: string): Promise<void>;
  /** A whole session gets another name, if it is there. Throws `PermanentError`. */
  move(session: string, to: string): Promise<void>;
  /** Adds lines to what is there; null where that can not be done. */
  append: ((key: string, lines: string) => Promise<void>) | null;
  check(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** What people are told was away. */
export const WHO = 'the store of the sessions';

export interface Checksum {
  bytes: number;
  sha256: string;
}

/**
 * Throws `SessionTakenError` unless the next one may follow: it has seen what is stored, or both are of one writer, and
 * it is no earlier saving. `stored` is null for what has no stamp.
 */
export function assertNext(stored: string | null | undefined, next: Stamp, where: string): void {
  if (stored === undefined || stored === next.after || stored === next.id) return;
  if (stored !== null && isEarlier(stored, next.id)) return;
  throw new SessionTakenError(
    `The session in ${where} was saved by somebody else meanwhile, so nothing is written over it. ` +
      'Two runs of the same session are at work; the one that saved it goes on.',
  );
}

function isEarlier(stored: string, next: string): boolean {
  const [one, other] = [toWriter(stored), toWriter(next)];
  return one.writer === other.writer && one.number < other.number;
}

/** An id is made of the writer's and the number of the saving. */
function toWriter(id: string): { writer: string; number: number } {
  const dot = id.lastIndexOf('.');
  return { writer: id.slice(0, dot), number: Number(id.slice(dot + 1)) };
}
