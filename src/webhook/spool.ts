// Where events wait on disk while the queue is away.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Job } from '../queue/job.ts';

export interface AcceptedEvent {
  job: Job;
  eventKey: string;
  /** All names of the event, GitLab's own among them. */
  keys: string[];
}

export interface Spool {
  /** Safely on disk when it resolves. Throws when it is full or can not be written. */
  put(event: AcceptedEvent): Promise<void>;
  /** Offers the events, oldest first; those that are taken are deleted. A throw ends the offering. */
  drain(take: (event: AcceptedEvent) => Promise<'taken' | 'later'>): Promise<void>;
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
  const sizes = new Map<string, number>();
  for (const file of await listEvents(dir)) sizes.set(file, (await stat(join(dir, file))).size);
  const bytes = (): number => [...sizes.values()].reduce((sum, size) => sum + size, 0);

  const size = (): { events: number; bytes: number } => ({ events: sizes.size, bytes: bytes() });

  const forget = async (file: string): Promise<void> => {
    await rm(join(dir, file), { force: true });
    sizes.delete(file);
  };

  return {
    async put(event) {
      const text = JSON.stringify(event);
      if (bytes() + text.length > maxBytes) throw new Error(`the spool ${dir} has reached ${maxBytes} bytes`);
      const file = `${Date.now().toString().padStart(15, '0')}-${randomUUID()}.json`;
      await writeDurably(dir, file, text);
      sizes.set(file, Buffer.byteLength(text));
    },

    async drain(take) {
      for (const file of await listEvents(dir)) {
        const event = await readEvent(join(dir, file)).catch(async (error) => {
          onBadFile(file, error);
          await rename(join(dir, file), join(dir, `${file}.bad`));
          sizes.delete(file);
          return null;
        });
        if (event && (await take(event)) === 'taken') await forget(file);
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

async function listEvents(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((file) => file.endsWith('.json')).sort();
}

async function readEvent(path: string): Promise<AcceptedEvent> {
  return stored.parse(JSON.parse(await readFile(path, 'utf8')));
}

/** A crash leaves either the whole file under its name, or nothing that counts. */
async function writeDurably(dir: string, file: string, text: string): Promise<void> {
  const partial = join(dir, `${file}.partial`);
  const handle = await open(partial, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partial, join(dir, file));
  const folder = await open(dir);
  await folder.sync().finally(() => folder.close());
}
