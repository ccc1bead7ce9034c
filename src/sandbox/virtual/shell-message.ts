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

/** The process says `ready` once; then to each request what it changes, as it happens, and one `reply`. */
export type ShellMessage =
  | { kind: 'ready' }
  /** All of them belong together: the two ends of a move. */
  | { kind: 'changed'; changes: ReportedChange[] }
  /** There was no room for what the command wrote: nothing it did to the files counts. */
  | { kind: 'full' }
  | { kind: 'reply'; reply: ShellReply };

export interface ShellReply {
  exitCode: number;
  stdout: string;
  stderr: string;
  truncated: boolean;
}

export interface ReportedChange {
  path: string;
  entry: FileEntry | GrownFile | null;
}

/** A file as the bytes that are known to be at another path, or at its own, and `more` behind them. */
export interface GrownFile {
  kind: 'grown';
  base: string;
  more: Uint8Array;
  mode: number;
  mtimeMs: number;
}

/** Changes out of a message. */
export function toOwnChanges(changes: readonly FileChange[]): FileChange[] {
  return changes.map(({ path, entry }) => ({ path, entry: entry && toOwnEntry(entry) }));
}

export function toOwnEntry(entry: FileEntry): FileEntry {
  return entry.kind === 'file' ? { ...entry, bytes: toOwnBytes(entry.bytes) } : entry;
}

/** Bytes out of a message are views into it: a small file would keep all of a large message. */
export function toOwnBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength * 2 > bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes);
}
