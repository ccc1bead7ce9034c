import type { KeepFile } from '../agent/prune.ts';
import { type Sandbox, SandboxFullError } from '../sandbox/sandbox.ts';

const FOLDER = '/tmp/_out';

/** Texts that the conversation has no more room for, in files that are saved with the session. */
export function createKeepFile(sandbox: Sandbox): KeepFile {
  let taken: Promise<Set<string>> | undefined;
  return async (name, text) => {
    // What comes into the folder later has names of another kind.
    taken ??= sandbox.list(FOLDER).then((names) => new Set(names));
    const names = await taken;
    const free = toNames(name).find((one) => !names.has(one)) ?? name;
    names.add(free);
    const path = `${FOLDER}/${free}`;
    try {
      await sandbox.writeFile(path, text);
      return path;
    } catch (error) {
      if (error instanceof SandboxFullError) return null;
      throw error;
    }
  };
}

/** `notes.md` gives `notes-1.md`, `notes-2.md` and so on. */
function* toNames(name: string): Generator<string> {
  const dot = name.lastIndexOf('.');
  for (let number = 1; ; number += 1) yield `${name.slice(0, dot)}-${number}${name.slice(dot)}`;
}
