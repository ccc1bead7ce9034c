// Starting a real server program for the tests.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Server {
  url: string;
  stop(): Promise<void>;
  /** After a stop, on the same address with the same data. */
  restart(): Promise<void>;
  /** Lets it hang without closing a connection, go on, or die. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void;
}

const POSTGRES_VERSIONS = '/usr/lib/postgresql';

/** Where the program is, or null; under CI a missing one is an error, never a silent skip. */
export function findProgram(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  if (existsSync(POSTGRES_VERSIONS))
    folders.push(...readdirSync(POSTGRES_VERSIONS).map((version) => join(POSTGRES_VERSIONS, version, 'bin')));
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (!found && process.env.CI) throw new Error(`${name} is not installed, but the tests need it`);
  return found ?? null;
}

export interface Program {
  command: string;
  args: string[];
  options?: SpawnOptions;
  url: string;
  /** The one that does not wait for clients to leave. */
  stopSignal?: NodeJS.Signals;
  /** Throws until the server answers. */
  ready: () => Promise<void>;
}

export async function startServer(program: Program): Promise<Server> {
  let child = await launch(program);
  return {
    url: program.url,
    stop: () => stopProcess(child, program.stopSignal),
    async restart() {
      child = await launch(program);
    },
    signal: (signal) => void child.kill(signal),
  };
}

async function launch({ command, args, options, ready }: Program): Promise<ChildProcess> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  for (let tries = 0; ; tries += 1) {
    try {
      await ready();
      return child;
    } catch (cause) {
      if (child.exitCode !== null || tries > 100)
        throw new Error(`${command} did not start: ${errors}`, { cause });
      await sleep(100);
    }
  }
}

export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
