// The command line as a process of its own, in a process group of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';

export const PROGRAM = join(import.meta.dirname, '../../bin/hummingbird');

export interface Program {
  /** Where it puts its temporary files. */
  folder: string;
  /** What it has printed so far. */
  printed(): string;
  shows(text: string): Promise<void>;
  /** On standard error. */
  tells(text: string): Promise<void>;
  /** As a terminal does it: everything that runs in it gets the signal. */
  pressCtrlC(): void;
  terminate(): void;
  /** Neither the process nor any that it started is there. */
  isGone(): boolean;
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

export function startProgram(args: string[], env: Record<string, string> = {}, command = PROGRAM): Program {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-program-'));
  const child = spawn(command, args, {
    detached: true,
    env: { PATH: process.env.PATH, TMPDIR: folder, ...env },
  });
  if (child.pid === undefined) throw new Error(`${command} could not be started`);
  const group = -child.pid;
  onTestFinished(() => {
    if (isThere(group)) process.kill(group, 'SIGKILL');
  });
  let printed = '';
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    printed += part;
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    told += part;
  });
  const ended = once(child, 'close').then(([code]) => ({ code, stdout: printed, stderr: told }));
  return {
    folder,
    printed: () => printed,
    shows: (part) => expect.poll(() => printed, { timeout: 30_000 }).toContain(part),
    tells: (part) => expect.poll(() => told, { timeout: 30_000 }).toContain(part),
    pressCtrlC: () => void process.kill(group, 'SIGINT'),
    terminate: () => void child.kill('SIGTERM'),
    isGone: () => !isThere(group),
    ended,
  };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
