import { addAbortSignal, type Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { createReservoir, toEvidence, toReference } from '../evidence/evidence.ts';
import type { PassingLog } from '../sources/source.ts';

/** What the model sees of a log that flows by: the lines that explain a failure best, with their numbers. */
export interface LogPreview {
  add(chunk: Buffer): void;
  /** `where` says where all of it is. */
  toText(where: string): Promise<string>;
  /** Gives up what is still being read for it. */
  close(): void;
}

export interface LogPreviewOptions {
  maxBytes: number;
  /** A passing log that can not be read, or not in time, is as good as none: it only sharpens the choice. */
  findPassing: (signal: AbortSignal) => Promise<PassingLog | null>;
  signal: AbortSignal;
  /** How long the passing log is waited for once the log itself has ended. */
  patienceMs?: number;
}

const PATIENCE_MS = 10_000;
const MAX_PASSING_BYTES = 64 * 1024 * 1024;

export function createLogPreview(options: LogPreviewOptions): LogPreview {
  const { maxBytes, findPassing, patienceMs = PATIENCE_MS } = options;
  const reservoir = createReservoir();
  const giveUp = new AbortController();
  const signal = AbortSignal.any([options.signal, giveUp.signal]);
  let bytes = 0;
  let comparing: Promise<Compared | null> | null = null;

  async function waitForPassing(): Promise<Compared | null> {
    const timeUp = wait(patienceMs, null, { signal }).catch(() => null);
    const passing = await Promise.race([comparing, timeUp]);
    giveUp.abort();
    return passing;
  }

  return {
    add(chunk) {
      reservoir.add(chunk);
      bytes += chunk.length;
      // At the same time as the log itself is read, and only if there is something to choose.
      if (bytes > maxBytes) comparing ??= compare(findPassing, signal).catch(() => null);
    },
    async toText(where) {
      const passing = comparing && (await waitForPassing());
      const title = [
        'lines that explain the failure best, as NUMBER|LINE',
        ...(passing ? [`compared with ${passing.name}`] : []),
        where,
      ].join('; ');
      const room = maxBytes - Buffer.byteLength(title) - 3;
      const { text } = toEvidence(reservoir, { maxBytes: room, reference: passing?.reference ?? null });
      return `[${title}]\n${text}`;
    },
    close: () => giveUp.abort(),
  };
}

interface Compared {
  name: string;
  reference: ReadonlySet<number>;
}

async function compare(
  findPassing: LogPreviewOptions['findPassing'],
  signal: AbortSignal,
): Promise<Compared | null> {
  const passing = await findPassing(signal);
  if (!passing) return null;
  const start = await readStart(addAbortSignal(signal, passing.body));
  return { name: passing.name, reference: toReference(start) };
}

/** The rest is let go. */
async function readStart(body: Readable) {
  const reservoir = createReservoir();
  let bytes = 0;
  for await (const chunk of body) {
    reservoir.add(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_PASSING_BYTES) break;
  }
  return reservoir;
}
