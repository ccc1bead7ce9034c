// Docker sandboxes for tests, on the shared engine unless told. They are closed when the test is over.
import Docker from 'dockerode';
import { afterAll, onTestFinished } from 'vitest';
import { type DockerSandboxesOptions, openDockerSandboxes } from '../../src/sandbox/docker/provider.ts';
import type {
  ExecOptions,
  ExecResult,
  Sandbox,
  SandboxProvider,
  SandboxPurpose,
} from '../../src/sandbox/sandbox.ts';
import { type EngineAndImage, toOptions } from './docker-options.ts';
import { sharedDocker } from './shared-docker.ts';

export { MIB } from './docker-options.ts';

export const PURPOSE: SandboxPurpose = {
  sessionId: 'a-session',
  jobId: 'a-job',
  openLastSaved: async () => null,
};

export async function openProvider(
  changed: Partial<DockerSandboxesOptions> = {},
  on?: EngineAndImage,
): Promise<SandboxProvider> {
  const provider = await openDockerSandboxes(toOptions(on ?? (await sharedDocker()), changed));
  onTestFinished(() => provider.close());
  return provider;
}

/** Of one provider for the whole file, unless it has to be another one. */
export async function openSandbox(
  purpose: Partial<SandboxPurpose> = {},
  provider?: SandboxProvider,
): Promise<Sandbox> {
  const sandbox = await (provider ?? (await openUsual())).create({ ...PURPOSE, ...purpose });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

let usual: Promise<SandboxProvider> | undefined;
afterAll(async () => (await usual)?.close());

function openUsual(): Promise<SandboxProvider> {
  usual ??= sharedDocker().then((on) => openDockerSandboxes(toOptions(on, { pool: 1 })));
  return usual;
}

export function exec(
  sandbox: Sandbox,
  command: string,
  options: Partial<ExecOptions> = {},
): Promise<ExecResult> {
  const signal = new AbortController().signal;
  return sandbox.exec(command, { timeoutMs: 20_000, maxOutputBytes: 100_000, signal, ...options });
}

export async function connect(on?: EngineAndImage): Promise<Docker> {
  const { socketPath } = on ?? (await sharedDocker());
  return new Docker({ socketPath });
}

/** Found by their names. */
export async function containersOf(engine: Docker, sessionId: string): Promise<Docker.ContainerInfo[]> {
  return engine.listContainers({ all: true, filters: { name: [sessionId] } });
}

/** Those that run, told apart by this limit. */
export async function containersWith(engine: Docker, pids: number): Promise<string[]> {
  const all = await engine.listContainers({ filters: { label: ['hummingbird.sandbox'] } });
  const settled = await Promise.allSettled(all.map(({ Id }) => engine.getContainer(Id).inspect()));
  const inspected = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  return inspected.filter(({ HostConfig }) => HostConfig.PidsLimit === pids).map(({ Id }) => Id);
}
