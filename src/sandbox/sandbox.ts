// The port of the place where the model's commands run: no network, no secrets, nothing of the host.
import type { Readable } from 'node:stream';

export interface SandboxProvider {
  /** An empty sandbox with /tmp/_out and /tmp/data. */
  create(purpose: SandboxPurpose): Promise<Sandbox>;
  /** Throws with the reason when no sandbox can be made now. */
  check(): Promise<void>;
  /** Ends what was kept ready. Sandboxes in use are closed by those who use them. */
  close(): Promise<void>;
}

export interface SandboxPurpose {
  sessionId: string;
  jobId: string;
  /** The files last saved, to go on with if the sandbox has to be replaced; null when there are none. */
  openLastSaved(): Promise<Readable | null>;
}

export interface Sandbox {
  /**
   * Runs `sh -c`. Never throws for what the command does; throws the signal's reason when aborted.
   * However it ends, by itself, in time, by an abort or for want of memory, its files stay as it had left them:
   * each as of the last write that was finished, of a rapid series perhaps some milliseconds before. What has no
   * room is refused; of such a command nothing may be left, or what had room.
   */
  exec(command: string, options: ExecOptions): Promise<ExecResult>;
  /** Makes missing folders. Throws `SandboxFullError` when there is no room. Answers the bytes written. */
  writeFile(path: string, content: string | Uint8Array | Readable): Promise<number>;
  /** Null when there is no such file. */
  readFile(path: string): Promise<Buffer | null>;
  /** The same at the reader's pace, without holding it; empty when there is no such file. */
  streamFile(path: string): Readable;
  /** Names in a folder, sorted; empty when there is none. */
  list(folder: string): Promise<string[]>;
  /**
   * A tar.gz of these folders; paths in it are relative to /. Files with more than `maxBytes` together are left out,
   * the largest first; a note `<name>.left-out` stands for each, or one for all if so many notes are too much. Before
   * it ends `onLeftOut` hears once which files have such a note in it, those included that an earlier archive had left
   * out.
   */
  archive(folders: readonly string[], maxBytes: number, onLeftOut?: OnLeftOut): Readable;
  /** What lies in these folders now, to be compared with later. */
  mark(folders: readonly string[]): Promise<FilesMark>;
  /** What an archive of these folders would have that is another than at `since`; all of it when that is null. */
  findChanges(folders: readonly string[], maxBytes: number, since: FilesMark | null): Promise<FilesChange>;
  /** Puts the files of such an archive back; refuses paths that lead outside. Answers what had been left out. */
  restore(archive: Readable): Promise<string[]>;
  close(): Promise<void>;
}

/** By path, something that is another whenever the file is. Only the sandbox that made it can make use of it. */
export type FilesMark = ReadonlyMap<string, string>;

export interface FilesChange {
  /** Of what is in the archives, this one included. */
  mark: FilesMark;
  leftOut: readonly LeftOutFile[];
  /**
   * A tar.gz of what is new or changed, with the names of what is gone: laid over the archives before it by
   * `mergeArchives`. Null when nothing is. To be called before anything else is done in the sandbox.
   */
  pack: (() => Readable) | null;
}

/** Sorted by path; empty when nothing is left out. */
export type OnLeftOut = (files: readonly LeftOutFile[]) => void;

export interface LeftOutFile {
  /** Or, of many that share a note, their number in words. */
  path: string;
  /** Null when only the note of an earlier archive is left of it. */
  bytes: number | null;
}

export interface ExecOptions {
  timeoutMs: number;
  /** Output beyond this is dropped, of each stream. */
  maxOutputBytes: number;
  signal: AbortSignal;
}

export interface ExecResult {
  /** 124 after a timeout, 128 and its number after a signal. */
  exitCode: number;
  /** UTF-8. In the place of a byte that is none stands U+FFFD, or the character of that number. */
  stdout: string;
  /** Unless the command exited by itself, its last line says what happened. */
  stderr: string;
  ending: ExecEnding;
  /** Some output was dropped. */
  truncated: boolean;
}

/** `lost`: the sandbox broke under the command and was replaced, with the files last saved. */
export type ExecEnding = 'exited' | 'timed-out' | 'out-of-memory' | 'signal' | 'lost';

export class SandboxFullError extends Error {
  override readonly name = 'SandboxFullError';
}

/** The sandbox broke and was replaced, with the files last saved: what was asked for may be asked for again. */
export class SandboxLostError extends Error {
  override readonly name = 'SandboxLostError';
}
