// The port of the place where the model's commands run: no network, no secrets, nothing of the host.
import type { Readable } from 'node:stream';

export interface SandboxProvider {
  /** An empty sandbox with /tmp/_out and /tmp/data. */
  create(): Promise<Sandbox>;
}

export interface Sandbox {
  /**
   * Runs `sh -c`. Never throws for what the command does; throws the signal's reason when aborted.
   * However it ends, by itself, in time, by an abort or for want of memory, its files stay as it had left them:
   * each as of the last write that was finished, of a rapid series perhaps some milliseconds before. Only what
   * has no room is refused: such a command leaves the files as they were.
   */
  exec(command: string, options: ExecOptions): Promise<ExecResult>;
  /** Makes missing folders. Throws `SandboxFullError` when there is no room. Answers the bytes written. */
  writeFile(path: string, content: string | Uint8Array | Readable): Promise<number>;
  /** Null when there is no such file. */
  readFile(path: string): Promise<Buffer | null>;
  /** Names in a folder, sorted; empty when there is none. */
  list(folder: string): Promise<string[]>;
  /** A tar.gz of these folders; paths in it are relative to /. */
  archive(folders: readonly string[]): Readable;
  /** Puts the files of such an archive back; refuses paths that lead outside. */
  restore(archive: Readable): Promise<void>;
  close(): Promise<void>;
}

export interface ExecOptions {
  timeoutMs: number;
  /** Output beyond this is dropped, of each stream. */
  maxOutputBytes: number;
  signal: AbortSignal;
}

export interface ExecResult {
  /** 124 after a timeout. */
  exitCode: number;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  /** Some output was dropped. */
  truncated: boolean;
}

export class SandboxFullError extends Error {
  override readonly name = 'SandboxFullError';
}
