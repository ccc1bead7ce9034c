import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ContainerCreateOptions } from 'dockerode';
import type { SandboxPurpose } from '../sandbox.ts';
import { INIT } from './programs.ts';

export interface ContainerLimits {
  image: string;
  /** Of all files together. They are in memory, so it must be less than that. */
  maxBytes: number;
  /** Files, folders and links. */
  maxFiles: number;
  memoryMb: number;
  cpus: number;
  pids: number;
  /** Open files of one process. */
  openFiles: number;
  /** At which it ends by itself, should nobody have ended it. */
  lifetimeMs: number;
  /** Of the engine, `runsc` for one; its own default unless told. */
  runtime?: string | undefined;
}

/** All of ours carry it. */
export const LABEL = 'hummingbird.sandbox';
/** When it can be of no use to anybody any more, in milliseconds since 1970. */
export const EXPIRES_LABEL = 'hummingbird.expires';

const MIB = 1024 * 1024;
const USER = '10001:10001';

/** A container in which nothing of the host can be reached, and whose limits are all set. */
export function toCreateOptions(
  limits: ContainerLimits,
  purpose: SandboxPurpose | null,
): ContainerCreateOptions {
  const { maxBytes, maxFiles, memoryMb, cpus, pids, openFiles, lifetimeMs, runtime } = limits;
  return {
    ...(purpose && { name: toName(purpose) }),
    Image: limits.image,
    Entrypoint: INIT,
    Cmd: [`${Math.ceil(lifetimeMs / 1000)}`],
    Hostname: 'sandbox',
    User: USER,
    WorkingDir: '/tmp',
    Env: ['HOME=/tmp', 'LANG=C.UTF-8'],
    Labels: toLabels(lifetimeMs, purpose),
    Healthcheck: { Test: ['NONE'] },
    // An engine that stops, or finds what one that died has left, need not wait: nothing in it can be saved any more.
    StopSignal: 'SIGKILL',
    // Its standard input ends with our connection, and with it process 1: nobody outlives this service.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    NetworkDisabled: true,
    HostConfig: {
      AutoRemove: true,
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': `rw,exec,nosuid,nodev,mode=1777,size=${maxBytes},nr_inodes=${maxFiles}` },
      // Without it there would be a second place for files, /dev/shm.
      IpcMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true'],
      Memory: memoryMb * MIB,
      MemorySwap: memoryMb * MIB,
      NanoCpus: Math.round(cpus * 1e9),
      PidsLimit: pids,
      Ulimits: [
        { Name: 'nofile', Soft: openFiles, Hard: openFiles },
        { Name: 'core', Soft: 0, Hard: 0 },
      ],
      // What commands print does not go to the disk of the host.
      LogConfig: { Type: 'none', Config: {} },
      ...(runtime !== undefined && { Runtime: runtime }),
    },
  };
}

/** Tells people whose it is; labels can not be given to a container that was started before anybody needed it. */
export function toName({ sessionId, jobId }: SandboxPurpose): string {
  return `hummingbird-${sessionId}-${jobId}-${randomUUID().slice(0, 8)}`.replace(/[^a-zA-Z0-9_.-]/g, '_');
}

function toLabels(lifetimeMs: number, purpose: SandboxPurpose | null): Record<string, string> {
  return {
    [LABEL]: 'true',
    [EXPIRES_LABEL]: `${Date.now() + lifetimeMs}`,
    'hummingbird.owner': `${hostname()}:${process.pid}`,
    ...(purpose && { 'hummingbird.job': purpose.jobId, 'hummingbird.session': purpose.sessionId }),
  };
}
