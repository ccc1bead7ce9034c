import { posix } from 'node:path';
import type { FileMap } from './file-entry.ts';

const MAX_HOPS = 40;

/** Where a path really leads, symbolic links followed in every part of it; null when they go in a circle. */
export function resolveLinks(files: FileMap, path: string): string | null {
  let open = path.split('/').filter(Boolean);
  let done = '/';
  let hops = 0;
  while (true) {
    const [part, ...rest] = open;
    if (part === undefined) return done;
    const next = posix.join(done, part);
    const entry = files.get(next);
    if (entry?.kind !== 'link') {
      done = next;
      open = rest;
      continue;
    }
    hops += 1;
    if (hops > MAX_HOPS) return null;
    open = [...posix.resolve(done, entry.target).split('/').filter(Boolean), ...rest];
    done = '/';
  }
}
