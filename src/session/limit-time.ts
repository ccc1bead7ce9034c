import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { untilAborted } from '../deadline.ts';
import { RetryableError } from '../errors.ts';
import { createMeter } from './checksum.ts';
import { type Checksum, type SessionObjects, WHO } from './objects.ts';
import type { StoredObject } from './session-store.ts';
import { watchMovement } from './watch-movement.ts';

/** Before a stream is opened, all of it may be read. */
const OPEN_FACTOR = 10;

/**
 * The same objects, but nobody waits for one operation longer than this; for a stream, as long as something of it
 * moves. What hangs is left behind and may still be done.
 */
export function limitTime(objects: SessionObjects, timeoutMs: number): SessionObjects {
  async function within<T>(what: string, work: Promise<T>, ms = timeoutMs): Promise<T> {
    return until(AbortSignal.timeout(ms), `${what}: no answer within ${ms} ms`, work);
  }

  async function until<T>(signal: AbortSignal, words: string, work: Promise<T>): Promise<T> {
    try {
      return await untilAborted(work, signal);
    } catch (cause) {
      if (!signal.aborted || cause !== signal.reason) throw cause;
      throw new RetryableError(`${words}; the disk hangs, or the network behind it`, { cause, who: WHO });
    }
  }

  async function writeStream(key: string, content: Readable): Promise<Checksum> {
    const movement = watchMovement(timeoutMs);
    const { signal } = movement.controller;
    const watched = createMeter(movement.moved);
    // Whoever reads it hears of what fails before it.
    pipeline(content, watched).catch(() => undefined);
    const words = `saving ${objects.where(key)}: nothing moved for ${timeoutMs} ms`;
    try {
      return await until(signal, words, objects.writeStream(key, watched));
    } finally {
      movement.stop();
      // Also what was never read lets go of where it comes from.
      watched.destroy();
    }
  }

  async function open(key: string, expected?: Checksum): Promise<Readable | null> {
    const opening = objects.open(key, expected);
    try {
      return await within(`reading ${where(key)}`, opening, OPEN_FACTOR * timeoutMs);
    } catch (error) {
      opening.then((late) => late?.destroy()).catch(() => undefined);
      throw error;
    }
  }

  async function remove(keys: readonly string[]): Promise<void> {
    const [first = '', ...others] = keys;
    const rest = others.length > 0 ? ` and ${others.length} more` : '';
    await within(`deleting ${where(first)}${rest}`, objects.remove(keys));
  }

  async function* each(what: string, found: AsyncIterable<StoredObject>): AsyncGenerator<StoredObject> {
    const iterator = found[Symbol.asyncIterator]();
    while (true) {
      const next = await within(what, iterator.next());
      if (next.done) return;
      yield next.value;
    }
  }

  const { where, append, listWithDrafts } = objects;
  return {
    where,
    read: (key) => within(`reading ${where(key)}`, objects.read(key)),
    write: (key, content, stamp) => within(`saving ${where(key)}`, objects.write(key, content, stamp)),
    writeStream,
    open,
    copy: (from, to) => within(`copying ${where(from)}`, objects.copy(from, to)),
    list: (prefix) => each(`listing ${where(prefix)}`, objects.list(prefix)),
    listWithDrafts: listWithDrafts && ((prefix) => each(`listing ${where(prefix)}`, listWithDrafts(prefix))),
    remove,
    removeSession: (session) => within(`deleting ${where(session)}`, objects.removeSession(session)),
    move: (session, to) => within(`moving ${where(session)}`, objects.move(session, to)),
    append: append && ((key, line) => within(`saving ${where(key)}`, append(key, line))),
    check: () => within(`looking at ${where('')}`, objects.check()),
    close: () => objects.close(),
  };
}
