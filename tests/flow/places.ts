// Where words of a run may end up, to be looked through.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Scene } from './scene.ts';

/** Without the signs of no width that keep words of a note from becoming links. */
export function seen(note: string): string {
  return note.replaceAll('\u200b', '');
}

/** The files of all sessions by their names, unpacked. */
export async function readSessions({ folder }: Scene): Promise<Record<string, string>> {
  const root = join(folder, 'sessions');
  const names = await readdir(root, { recursive: true });
  const files = names.filter((name) => /\.(?:json|jsonl|gz)$/.test(name));
  const contents = await Promise.all(
    files.map(
      async (name): Promise<[string, string]> => [
        name.replace(/^[^/]*\//, ''),
        toText(name, await readFile(join(root, name))),
      ],
    ),
  );
  return Object.fromEntries(contents);
}

export function toText(name: string, bytes: Uint8Array): string {
  return Buffer.from(name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
}
