import { SandboxFullError } from './sandbox.ts';

export interface FileCaps {
  /** Of all files together. */
  maxBytes: number;
  /** Folders and links count too. */
  maxFiles: number;
}

export function tooManyBytes(maxBytes: number): SandboxFullError {
  return new SandboxFullError(
    `The sandbox is full: its files may have ${maxBytes} bytes together. Remove files or write less.`,
  );
}

export function tooManyFiles(maxFiles: number): SandboxFullError {
  return new SandboxFullError(`The sandbox is full: it may hold ${maxFiles} files and folders. Remove some.`);
}
