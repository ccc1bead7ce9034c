import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { RetryableError } from '../../errors.ts';
import type { SandboxPurpose } from '../sandbox.ts';
import { type ContainerLimits, toCreateOptions } from './container-options.ts';
import { ask, isGone } from './engine.ts';
import { readOutput } from './frames.ts';

/** A container that runs, with nothing in it but process 1. */
export interface Container {
  readonly id: string;
  readonly startedAt: number;
  /** It is known to have ended. */
  readonly ended: boolean;
  /** Starts a process in it. Throws `ContainerLostError` when the container has ended. */
  open(command: readonly string[]): Promise<Process>;
  /** Ends every process in it but process 1. */
  endProcesses(): Promise<void>;
  /** For who has seen a process of it vanish: takes a moment, since the engine tells of that first. */
  isRunning(): Promise<boolean>;
  rename(name: string): Promise<void>;
  /** However often, and whatever has become of it. */
  remove(): Promise<void>;
}

export interface Process {
  /** Its standard input, and what `readOutput` takes apart. */
  connection: Duplex;
  /** Null while it runs, or if it never did. */
  exitCode(): Promise<number | null>;
}

/** The container has ended or can not be used any more: another one has to take its place. */
export class ContainerLostError extends Error {
  override readonly name = 'ContainerLostError';
}

const SETTLE_MS = 500;
const STREAMS = { AttachStdin: true, AttachStdout: true, AttachStderr: true };

export async function startContainer(
  engine: Docker,
  limits: ContainerLimits,
  purpose: SandboxPurpose | null,
): Promise<Container> {
  const made = await ask('making a sandbox', engine.createContainer(toCreateOptions(limits, purpose)));
  let lifeline: Duplex | undefined;
  try {
    const streams = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
    lifeline = withoutSurprise(await ask('attaching to a sandbox', made.attach(streams)));
    await ask('starting a sandbox', made.start());
    await ask('starting a sandbox', waitUntilReady(lifeline));
    return toContainer(made, lifeline);
  } catch (error) {
    lifeline?.destroy();
    // If it can not be removed now, others will; what matters is why it did not start.
    await ensureRemoved(made).catch(() => undefined);
    throw error;
  }
}

async function waitUntilReady(lifeline: Duplex): Promise<void> {
  let said = '';
  for await (const { bytes } of readOutput(lifeline.iterator({ destroyOnReturn: false }))) {
    said += bytes;
    if (said.endsWith('ready')) return;
  }
  throw new RetryableError(`a sandbox ended while it was started: ${said || 'it said nothing'}`);
}

function toContainer(made: Docker.Container, lifeline: Duplex): Container {
  const { id } = made;
  const closed = new Promise((resolve) => lifeline.once('close', resolve));
  lifeline.resume();
  // An idle sandbox does not hold up the end of the service, which is the end of the sandbox too.
  if (lifeline instanceof Socket) lifeline.unref();

  return {
    id,
    startedAt: Date.now(),
    get ended() {
      return lifeline.closed;
    },

    async open(command) {
      try {
        const exec = await ask('running a command', made.exec({ Cmd: [...command], ...STREAMS }));
        const connection = await ask('running a command', exec.start({ hijack: true, stdin: true }));
        return {
          connection: withoutSurprise(connection),
          exitCode: async () => (await ask('looking at a command', exec.inspect())).ExitCode,
        };
      } catch (error) {
        if (isGone(error)) throw new ContainerLostError(`the container ${id} has ended`, { cause: error });
        throw error;
      }
    },

    async endProcesses() {
      try {
        await ask('ending a command', made.kill({ signal: 'SIGUSR1' }));
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    },

    async isRunning() {
      await Promise.race([closed, sleep(SETTLE_MS)]);
      if (lifeline.closed) return false;
      try {
        return (await ask('looking at a sandbox', made.inspect())).State.Running;
      } catch (error) {
        if (isGone(error)) return false;
        throw error;
      }
    },

    rename: (name) => ask('naming a sandbox', made.rename({ name })),

    async remove() {
      try {
        await ensureRemoved(made);
      } finally {
        // Should the engine be away: without it, process 1 ends by itself.
        lifeline.destroy();
      }
    },
  };
}

export async function ensureRemoved(made: Docker.Container): Promise<void> {
  try {
    await ask('removing a sandbox', made.remove({ force: true, v: true }));
  } catch (error) {
    if (!isGone(error)) throw error;
    // Perhaps it is being removed already; then that is waited for.
    await ask('removing a sandbox', made.wait({ condition: 'removed' })).catch((error) => {
      if (!isGone(error)) throw error;
    });
  }
}

/** A failure is seen by whoever reads next; that nobody does must not end the service. */
function withoutSurprise(connection: NodeJS.ReadWriteStream): Duplex {
  connection.on('error', () => undefined);
  return connection as Duplex;
}
