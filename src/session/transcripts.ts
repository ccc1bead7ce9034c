import { randomUUID } from 'node:crypto';
import { RetryableError } from '../errors.ts';
import { createTurns } from './in-turn.ts';
import type { SessionObjects } from './objects.ts';

/** Lines of events, by session and in the order of the calls. */
export interface Transcripts {
  /** Throws what an earlier writing has failed with; the lines are kept for the next one. */
  append(id: string, line: string): Promise<void>;
  flush(id: string): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_MS = 5_000;
const FLUSH_BYTES = 64 * 1024;
/** Of one session, while nothing can be written; lines are given up beyond it. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

export function createTranscripts(objects: SessionObjects): Transcripts {
  const { append, where } = objects;
  return append ? createAppended(append, where) : createInParts(objects);
}

interface Waiting {
  lines: string[];
  bytes: number;
  written: Promise<void>;
}

/** What comes while something is written is written next, all at once. */
function createAppended(
  appendLines: NonNullable<SessionObjects['append']>,
  where: SessionObjects['where'],
): Transcripts {
  const inTurn = createTurns();
  const waiting = new Map<string, Waiting>();

  function writeNext(id: string): Waiting {
    const lines: string[] = [];
    const written = inTurn(id, () => {
      waiting.delete(id);
      return appendLines(`${id}/transcript.jsonl`, lines.join('\n'));
    });
    const next = { lines, bytes: 0, written };
    waiting.set(id, next);
    return next;
  }

  return {
    async append(id, line) {
      const bytes = (waiting.get(id)?.bytes ?? 0) + line.length;
      if (bytes > MAX_HELD_BYTES)
        throw new RetryableError(
          `An event of ${where(id)} is given up: ${MAX_HELD_BYTES} bytes wait to be written already; the disk hangs, ` +
            'or the network behind it',
        );
      const next = waiting.get(id) ?? writeNext(id);
      next.lines.push(line);
      next.bytes = bytes;
      await next.written;
    },
    // What nobody has waited for is waited for now.
    flush: (id) => inTurn(id, async () => undefined),
    close: async () => undefined,
  };
}

interface Held {
  lines: string[];
  bytes: number;
  timer: NodeJS.Timeout | null;
  /** Of the next part; null before anybody has looked. */
  number: number | null;
  writing: Promise<void>;
  error: unknown;
}

/** Where nothing can be added to what is there: each part is an object of its own. */
function createInParts(objects: SessionObjects): Transcripts {
  const writer = randomUUID().slice(0, 8);
  const sessions = new Map<string, Held>();

  function heldOf(id: string): Held {
    const known = sessions.get(id);
    if (known) return known;
    const held = { lines: [], bytes: 0, timer: null, number: null, writing: Promise.resolve(), error: null };
    sessions.set(id, held);
    return held;
  }

  function write(id: string): Promise<void> {
    const held = heldOf(id);
    if (held.timer) clearTimeout(held.timer);
    held.timer = null;
    held.writing = held.writing.catch(() => undefined).then(() => writePart(id, held));
    return held.writing;
  }

  async function writePart(id: string, held: Held): Promise<void> {
    const { lines, bytes } = held;
    if (lines.length === 0) return;
    Object.assign(held, { lines: [], bytes: 0 });
    try {
      held.number ??= await countParts(objects, id);
      const number = (held.number + 1).toString().padStart(4, '0');
      await objects.write(`${id}/transcript/${number}-${writer}.jsonl`, `${lines.join('\n')}\n`);
      held.number += 1;
    } catch (error) {
      held.lines.unshift(...lines);
      held.bytes += bytes;
      throw error;
    }
  }

  function writeSoon(id: string, held: Held): void {
    const isFull = held.bytes >= FLUSH_BYTES;
    if (held.timer && !isFull) return;
    const later = (): void => void write(id).catch((error) => Object.assign(held, { error }));
    if (isFull) later();
    else held.timer = setTimeout(later, FLUSH_MS).unref();
  }

  return {
    async append(id, line) {
      const held = heldOf(id);
      held.lines.push(line);
      held.bytes += line.length;
      // The oldest.
      while (held.bytes > MAX_HELD_BYTES) held.bytes -= held.lines.shift()?.length ?? held.bytes;
      writeSoon(id, held);
      const { error } = held;
      held.error = null;
      if (error) throw error;
    },
    async flush(id) {
      if (!sessions.has(id)) return;
      await write(id);
      if (heldOf(id).lines.length === 0) sessions.delete(id);
    },
    async close() {
      const outcomes = await Promise.allSettled([...sessions.keys()].map(write));
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed) throw failed.reason;
    },
  };
}

/** The number of the last one. */
async function countParts(objects: SessionObjects, id: string): Promise<number> {
  let last = 0;
  const folder = `${id}/transcript/`;
  for await (const { name } of objects.list(folder))
    last = Math.max(last, Number.parseInt(name.slice(folder.length), 10) || 0);
  return last;
}
