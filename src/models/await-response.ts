import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { readIfThere } from '../read-if-there.ts';
import { type FileResponse, parseResponse } from './file-response.ts';
import { sleepUntilAborted } from './with-retry.ts';

const POLL_MS = 250;
/** So long a file that is not JSON may still be on its way to the disk. */
const SETTLE_MS = 1_000;

/** What stands in the file, as soon as it is there and right. Until then `tell` hears what is wrong with it. */
export async function awaitResponse(
  path: string,
  { signal, tell }: { signal: AbortSignal; tell: (words: string) => void },
): Promise<FileResponse> {
  let changed = Promise.withResolvers<void>();
  const watcher = watchFolder(dirname(path), () => changed.resolve());
  let last: { text: string | null; sinceMs: number } = { text: null, sinceMs: 0 };
  let told: string | null = null;
  try {
    while (true) {
      changed = Promise.withResolvers();
      const text = await readIfThere(path);
      if (text !== null && text !== told) {
        const parsed = parseResponse(text);
        if ('response' in parsed) return parsed.response;
        if (text !== last.text) last = { text, sinceMs: performance.now() };
        if (parsed.isJson || performance.now() - last.sinceMs >= SETTLE_MS) {
          tell(`${path} can not be used, please correct it:\n${parsed.problem}`);
          told = text;
        }
      }
      await Promise.race([changed.promise, sleepUntilAborted(POLL_MS, signal)]);
      signal.throwIfAborted();
    }
  } finally {
    watcher?.close();
  }
}

/** Not every file system tells of changes, and a system has only so many watchers: polling has to do then. */
function watchFolder(dir: string, onChange: () => void): FSWatcher | null {
  try {
    return watch(dir, onChange).on('error', () => undefined);
  } catch {
    return null;
  }
}
