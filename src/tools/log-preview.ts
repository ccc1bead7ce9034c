import type { Readable } from 'node:stream';
import { createReservoir, toEvidence, toReference } from '../evidence/evidence.ts';
import type { PassingLog } from '../sources/source.ts';

/** What the model sees of a log that flows by: the lines that explain a failure best, with their numbers. */
export interface LogPreview {
  add(chunk: Buffer): void;
  /** `where` says where all of it is. */
  toText(where: string, maxBytes: number): Promise<string>;
}

/** A passing log that can not be read is as good as none: it only sharpens the choice. */
export function createLogPreview(findPassing: () => Promise<PassingLog | null>): LogPreview {
  const reservoir = createReservoir();
  // At the same time as the log itself is read.
  const comparing = compare(findPassing).catch(() => null);
  return {
    add: reservoir.add,
    async toText(where, maxBytes) {
      const passing = await comparing;
      const title = [
        'lines that explain the failure best, as NUMBER|LINE',
        ...(passing ? [`compared with ${passing.name}`] : []),
        where,
      ].join('; ');
      const room = maxBytes - Buffer.byteLength(title) - 3;
      const { text } = toEvidence(reservoir, { maxBytes: room, reference: passing?.reference ?? null });
      return `[${title}]\n${text}`;
    },
  };
}

async function compare(findPassing: () => Promise<PassingLog | null>) {
  const passing = await findPassing();
  if (!passing) return null;
  return { name: passing.name, reference: toReference(await readAll(passing.body)) };
}

async function readAll(body: Readable) {
  const reservoir = createReservoir();
  for await (const chunk of body) reservoir.add(chunk);
  return reservoir;
}
