import { type FileHandle, open } from 'node:fs/promises';
import { createReservoir, type Reservoir } from './reservoir.ts';

const CHUNK_BYTES = 256 * 1024;

/** What is kept of a file; `-` is the standard input. */
export async function readFile(path: string): Promise<Reservoir> {
  const reservoir = createReservoir();
  if (path === '-') {
    for await (const chunk of process.stdin) reservoir.add(chunk);
    return reservoir;
  }
  const file = await open(path);
  try {
    await readAll(file, reservoir);
  } finally {
    await file.close();
  }
  return reservoir;
}

/** Into the same memory again and again. */
async function readAll(file: FileHandle, reservoir: Reservoir): Promise<void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  while (true) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return;
    reservoir.add(buffer.subarray(0, bytesRead));
  }
}
