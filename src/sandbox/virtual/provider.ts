import type { Sandbox, SandboxProvider } from '../sandbox.ts';
import { createVirtualSandbox } from './virtual-sandbox.ts';

export interface VirtualSandboxOptions {
  /** Size of all files of a sandbox together. */
  maxBytes: number;
  /** Files, folders and links of a sandbox. */
  maxFiles?: number;
  /** What a command may hold in memory besides the files. */
  heapMb?: number;
  /** What time it always is in the sandbox, so that a command prints the same again; the real one unless told. */
  stillAtMs?: number | undefined;
}

export interface VirtualSandboxes extends SandboxProvider {
  /** Nobody outside sees it, so it needs no name, and it never has to be replaced. */
  create(): Promise<Sandbox>;
}

/** Sandboxes on this machine without anything to install: a shell in JavaScript, on files in memory. */
export function createVirtualSandboxes(options: VirtualSandboxOptions): VirtualSandboxes {
  const { maxBytes, maxFiles = 20_000, heapMb = 1024, stillAtMs } = options;
  return {
    create: async () => createVirtualSandbox({ maxBytes, maxFiles, heapMb, stillAtMs }),
    check: async () => undefined,
    close: async () => undefined,
  };
}
