// The service as a process of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { stopProcess } from '../services/server.ts';
import type { Scene } from './scene.ts';

const children: ChildProcess[] = [];

/** All that were started; to be called after each test. */
export async function stopProcesses(): Promise<void> {
  await Promise.all(children.splice(0).map((child) => stopProcess(child, 'SIGKILL')));
}

/** Answers once it serves. */
export async function run(scene: Scene, role: string) {
  const { child, lines, end } = launch(scene, role);
  await expect
    .poll(() => lines.find(({ msg }) => msg === 'service started'), { timeout: 20_000 })
    .toBeDefined();
  const url = String(lines.find(({ msg }) => msg === 'service started')?.url);
  return {
    url,
    lines,
    pid: child.pid,
    end,
    kill: () => stopProcess(child, 'SIGKILL'),
    stop: async () => undefined,
  };
}

export function launch(scene: Scene, role: string) {
  const program = join(import.meta.dirname, '../../bin/hummingbird');
  const child: ChildProcess = spawn(program, ['serve', '--role', role, '--config', scene.file], {
    env: { PATH: process.env.PATH, ...scene.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const lines: Record<string, unknown>[] = [];
  let errors = '';
  if (child.stdout) createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)));
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return {
    child,
    lines,
    /** Asks it to stop; answers its exit code. */
    async end() {
      child.kill('SIGTERM');
      return exited;
    },
    async failed() {
      return { code: await exited, text: errors };
    },
  };
}
