// Where events wait on disk while the queue is away.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Job } from '../queue/job.ts';
import { replaceFile } from '../replace-file.ts';

export interface AcceptedEvent {
  job: Job;
  eventKey: string;
  /** All names of the event, GitLab's own among them. */
  keys: string[];
}

export interface Spool {
  /** Safely on disk when it resolves. Throws when it is full or can not be written. */
  put(event: AcceptedEvent): Promise<void>;
  /** Offers the events, oldest first: taken ones are deleted, refused ones set aside. A throw ends the offering. */
  drain(take: (event: AcceptedEvent) => Promise<'taken' | 'later' | 'refused'>): Promise<void>;
  size(): { events: number; bytes: number };
  /** Throws when an event could not be kept now. */
  check(): Promise<{ events: number; bytes: number }>;
}

// Written by ourselves, but a disk can be full or edited.
const stored = z.object({
  job: z.custom<Job>((value) => typeof value === 'object' && value !== null && 'kind' in value),
  eventKey: z.string(),
  keys: z.array(z.string()),
});

export interface SpoolOptions {
  dir: string;
  maxBytes: number;
  onBadFile: (file: string, error: unknown) => void;
}

export async function openSpool({ dir, maxBytes, onBadFile }: SpoolOptions): Promise<Spool> {
  await mkdir(dir, { recursive: true });
  let sizes = await readSizes(dir);
  let written = 0;
  const bytes = (): number => sizes.values().reduce((sum, size) => sum + size, 0);
  const size = (): { events: number; bytes: number } => ({ events: sizes.size, bytes: bytes() });

  const setAside = async (file: string): Promise<void> => {
    await rename(join(dir, file), join(dir, `${file}.bad`));
    sizes.delete(file);
  };

  return {
    async put(event) {
      const content = JSON.stringify(event);
      const contentBytes = Buffer.byteLength(content);
      if (bytes() + contentBytes > maxBytes)
        throw new Error(`the spool ${dir} has reached ${maxBytes} bytes`);
      // The counter keeps the order of what comes within a millisecond.
      written += 1;
      const order = `${Date.now().toString().padStart(15, '0')}-${written.toString().padStart(9, '0')}`;
      const file = `${order}-${randomUUID()}.json`;
      await mkdir(dir, { recursive: true });
      await replaceFile(join(dir, file), content);
      sizes.set(file, contentBytes);
    },

    async drain(take) {
      await mkdir(dir, { recursive: true });
      // Another process may share the folder.
      sizes = await readSizes(dir);
      for (const file of [...sizes.keys()].sort()) {
        const event = await readEvent(join(dir, file)).catch(async (error) => {
          onBadFile(file, error);
          await setAside(file);
          return null;
        });
        if (!event) continue;
        const outcome = await take(event);
        if (outcome === 'refused') await setAside(file);
        if (outcome !== 'taken') continue;
        await rm(join(dir, file), { force: true });
        sizes.delete(file);
      }
    },

    size,

    async check() {
      const probe = join(dir, '.probe');
      await writeFile(probe, '');
      await rm(probe);
      if (bytes() >= maxBytes) throw new Error(`the spool ${dir} has reached ${maxBytes} bytes`);
      return size();
    },
  };
}

async function readSizes(dir: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const files = (await readdir(dir)).filter((file) => file.endsWith('.json'));
  for (const file of files) {
    // Another process may have taken it meanwhile.
    const found = await stat(join(dir, file)).catch(ignoreMissing);
    if (found) sizes.set(file, found.size);
  }
  return sizes;
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function readEvent(path: string): Promise<AcceptedEvent> {
  return stored.parse(JSON.parse(await readFile(path, 'utf8')));
}
