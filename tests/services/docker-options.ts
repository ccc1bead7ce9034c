import type { DockerSandboxesOptions } from '../../src/sandbox/docker/provider.ts';

export const MIB = 1024 * 1024;

export interface EngineAndImage {
  socketPath: string;
  image: string;
}

/** Small, and without anything kept ready, unless a test asks for it. */
export function toOptions(
  { socketPath, image }: EngineAndImage,
  changed: Partial<DockerSandboxesOptions> = {},
): DockerSandboxesOptions {
  return {
    engine: { socketPath },
    image,
    maxBytes: 64 * MIB,
    memoryMb: 256,
    cpus: 1,
    pids: 64,
    openFiles: 256,
    jobTimeoutMs: 600_000,
    pool: 0,
    onError: () => undefined,
    ...changed,
  };
}
