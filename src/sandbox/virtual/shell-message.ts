// What goes between the sandbox and the process of its shell.
import type { FileChange, FileEntry } from './file-entry.ts';

export interface ShellRequest {
  command: string;
  /** What has become of the files since the last request that was answered, or since the start. */
  changes: FileChange[];
  maxBytes: number;
  maxOutputBytes: number;
  timeoutMs: number;
}

/** The process says `ready` once, then one `reply` to each request. */
export type ShellMessage = { kind: 'ready' } | { kind: 'reply'; reply: ShellReply };

export interface ShellReply {
  exitCode: number;
  stdout: string;
  stderr: string;
  truncated: boolean;
  /** What the command did to the files; null when it ran out of room for them, and then nothing counts. */
  changes: FileChange[] | null;
}

/** Changes out of a message. Their bytes are views into it: a small file would keep all of a large message. */
export function toOwnChanges(changes: readonly FileChange[]): FileChange[] {
  return changes.map(({ path, entry }) => ({ path, entry: entry && toOwnEntry(entry) }));
}

function toOwnEntry(entry: FileEntry): FileEntry {
  if (entry.kind !== 'file' || entry.bytes.byteLength * 2 > entry.bytes.buffer.byteLength) return entry;
  return { ...entry, bytes: Uint8Array.from(entry.bytes) };
}
