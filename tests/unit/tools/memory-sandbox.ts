import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ExecResult, type Sandbox, SandboxFullError } from '../../../src/sandbox/sandbox.ts';

export interface MemorySandbox extends Sandbox {
  readonly files: Map<string, Buffer>;
  /** What was asked of `exec`. */
  readonly ran: { command: string; timeoutMs: number; maxOutputBytes: number }[];
}

/** Keeps files in a map; every command ends as the test says. */
export function createMemorySandbox(
  outcome: Partial<ExecResult> = {},
  { maxBytes = Number.POSITIVE_INFINITY } = {},
): MemorySandbox {
  const files = new Map<string, Buffer>();
  const ran: MemorySandbox['ran'] = [];
  return {
    files,
    ran,
    async exec(command, { timeoutMs, maxOutputBytes, signal }) {
      signal.throwIfAborted();
      ran.push({ command, timeoutMs, maxOutputBytes });
      return { exitCode: 0, stdout: '', stderr: '', ending: 'exited', truncated: false, ...outcome };
    },
    async writeFile(path, content) {
      const bytes = content instanceof Readable ? await buffer(content) : Buffer.from(content);
      const used = files.values().reduce((sum, file) => sum + file.length, 0);
      if (used + bytes.length > maxBytes) throw new SandboxFullError(`No room for ${path}.`);
      files.set(path, bytes);
      return bytes.length;
    },
    readFile: async (path) => files.get(path) ?? null,
    streamFile: (path) => Readable.from([files.get(path) ?? Buffer.alloc(0)]),
    list: async (folder) =>
      [...files.keys()]
        .filter((path) => path.startsWith(`${folder}/`))
        .map((path) => path.slice(folder.length + 1))
        .sort(),
    archive: () => Readable.from([]),
    mark: async () => new Map(),
    findChanges: async () => ({ mark: new Map(), leftOut: [], pack: null }),
    restore: async () => [],
    close: async () => undefined,
  };
}
