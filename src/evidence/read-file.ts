import { closeSync, openSync, readSync } from 'node:fs';
import { createReservoir, type Reservoir } from './reservoir.ts';

const CHUNK_BYTES = 256 * 1024;

/** What is kept of a file; `-` is the standard input. */
export async function readFile(path: string): Promise<Reservoir> {
  const reservoir = createReservoir();
  if (path === '-') for await (const chunk of process.stdin) reservoir.add(chunk);
  else readAll(path, reservoir);
  return reservoir;
}

/** Into the same memory again and again. Nobody else waits in the process of a command, so it may wait for the disk. */
function readAll(path: string, reservoir: Reservoir): void {
  const file = openSync(path, 'r');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    for (let bytes = readSync(file, buffer); bytes > 0; bytes = readSync(file, buffer))
      reservoir.add(buffer.subarray(0, bytes));
  } finally {
    closeSync(file);
  }
}
