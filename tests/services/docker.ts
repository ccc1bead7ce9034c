// A Docker engine of the tests' own. Images come from no registry: the base is made from Debian's packages.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Docker from 'dockerode';
import { findProgram, type Server, startServer } from './server.ts';

export interface DockerEngine extends Server {
  socketPath: string;
  image: string;
  /** Stops it for good: its image and containers go with it. */
  remove(): Promise<void>;
}

const IMAGE = 'hummingbird-sandbox:test';
const BASE = 'hummingbird-base:test';
const SUITE = 'trixie';
const FOLDER = join(import.meta.dirname, '../../docker');
const DOCKERFILE = 'sandbox.Dockerfile';
const CAP_SYS_ADMIN = 21n;

/** Null when the tests can start one. */
export function findDockerGap(): string | null {
  const missing = ['dockerd', 'mmdebstrap', 'setpriv'].filter((name) => !findProgram(name));
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  if (process.getuid?.() === 0 && mayMount()) return null;
  if (process.env.CI)
    throw new Error('the tests need to start a Docker engine: run them as root, outside a container');
  return 'only root can start an engine, and not within a container';
}

function mayMount(): boolean {
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return (BigInt(`0x${effective ?? 0}`) & (1n << CAP_SYS_ADMIN)) !== 0n;
}

/** Null when it can not be started here. The first time on a machine its image is built, which takes a minute. */
export async function startDocker({ tcpPort }: { tcpPort?: number } = {}): Promise<DockerEngine | null> {
  if (findDockerGap() !== null) return null;
  // Not below TMPDIR: the path of a socket may not be long.
  const folder = mkdtempSync(join(tmpdir(), 'docker-'));
  const socketPath = join(folder, 'docker.sock');
  const args = [
    // It ends with us, even if we are killed.
    ...['--pdeathsig', 'TERM', 'dockerd'],
    ...[
      '--host',
      `unix://${socketPath}`,
      '--data-root',
      join(folder, 'data'),
      '--exec-root',
      join(folder, 'exec'),
    ],
    ...['--pidfile', join(folder, 'docker.pid')],
    ...['--bridge', 'none', '--iptables=false', '--ip6tables=false'],
    ...(tcpPort === undefined ? [] : ['--host', `tcp://127.0.0.1:${tcpPort}`, '--tls=false']),
  ];
  const engine = new Docker({ socketPath });
  const ready = async () => void (await engine.ping());
  const server = await startServer({ command: 'setpriv', args, url: `unix://${socketPath}`, ready });
  try {
    await ensureImage(engine);
  } catch (error) {
    await server.stop();
    cleanUp(folder);
    throw error;
  }
  return {
    ...server,
    socketPath,
    image: IMAGE,
    async remove() {
      await server.stop();
      cleanUp(folder);
    },
    async restart() {
      // Its containerd dies with it; what is left of that must not be taken for alive.
      rmSync(join(folder, 'exec/containerd/containerd.pid'), { force: true });
      await server.restart();
    },
  };
}

/** What an engine leaves behind: shims of one that was killed, mounts, and its folder. */
function cleanUp(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const command = join('/proc', pid, 'cmdline');
    if (existsSync(command) && readFileSync(command, 'utf8').includes(`${folder}/`))
      process.kill(Number(pid), 'SIGKILL');
  }
  const mounted = readFileSync('/proc/mounts', 'utf8').matchAll(/^\S+ (\S+)/gm);
  const below = Array.from(mounted, ([, path = '']) => path).filter((path) => path.startsWith(`${folder}/`));
  for (const path of below.reverse()) execFileSync('umount', [path]);
  rmSync(folder, { recursive: true, force: true });
}

async function ensureImage(engine: Docker): Promise<void> {
  const recipe = `${SUITE} ${process.arch} ${readFileSync(join(FOLDER, DOCKERFILE), 'utf8')}`;
  const key = createHash('sha256').update(recipe).digest('hex').slice(0, 16);
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hummingbird');
  const file = join(cache, `sandbox-image-${key}.tar`);
  if (existsSync(file)) return follow(engine, await engine.loadImage(createReadStream(file)));

  await importBase(engine);
  const context = { context: FOLDER, src: [DOCKERFILE] };
  const options = { t: IMAGE, dockerfile: DOCKERFILE, buildargs: { BASE }, networkmode: 'host' };
  await follow(engine, await engine.buildImage(context, options));
  mkdirSync(cache, { recursive: true });
  const draft = `${file}.${process.pid}.tmp`;
  await pipeline(await engine.getImage(IMAGE).get(), createWriteStream(draft));
  renameSync(draft, file);
}

async function importBase(engine: Docker): Promise<void> {
  const bootstrap = spawn('mmdebstrap', ['--quiet', '--variant=minbase', SUITE, '-'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [repo, tag] = BASE.split(':');
  const imported = engine
    .importImage(bootstrap.stdout, { repo, tag })
    .then((progress) => follow(engine, progress));
  const [[code]] = await Promise.all([once(bootstrap, 'exit'), imported]);
  if (code !== 0) throw new Error(`mmdebstrap ended with ${code}`);
}

async function follow(engine: Docker, progress: NodeJS.ReadableStream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(progress, (error: Error | null, events: { error?: string }[]) => {
      const failure = error ?? events.find((event) => event.error)?.error;
      if (failure) reject(failure instanceof Error ? failure : new Error(failure));
      else resolve();
    });
  });
}
