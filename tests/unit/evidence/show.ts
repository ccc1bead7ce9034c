import {
  createReservoir,
  type EvidenceOptions,
  toEvidence,
  toReference,
} from '../../../src/evidence/evidence.ts';

/** What is shown of a log that comes in chunks of this size. */
export function show(
  log: string | Uint8Array,
  {
    maxBytes = 4_096,
    chunkBytes = 64 * 1024,
    ...options
  }: Partial<EvidenceOptions> & { chunkBytes?: number } = {},
) {
  return toEvidence(fill(log, chunkBytes), { maxBytes, ...options });
}

export function referenceOf(log: string) {
  return toReference(fill(log, 64 * 1024));
}

/** The lines that are shown, by their numbers. */
export function rowsOf(text: string): Map<number, string> {
  const rows = text.split('\n').flatMap((row) => {
    const [, number, line] = /^(\d+)\|(.*)$/.exec(row) ?? [];
    return number === undefined ? [] : [[Number(number), line ?? ''] as const];
  });
  return new Map(rows);
}

function fill(log: string | Uint8Array, chunkBytes: number) {
  const bytes = Buffer.from(log);
  const reservoir = createReservoir();
  for (let at = 0; at < bytes.length; at += chunkBytes) reservoir.add(bytes.subarray(at, at + chunkBytes));
  return reservoir;
}
