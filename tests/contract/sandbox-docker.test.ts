import { afterAll, beforeAll, describe } from 'vitest';
import { openDockerSandboxes } from '../../src/sandbox/docker/provider.ts';
import type { SandboxProvider } from '../../src/sandbox/sandbox.ts';
import { dockerGap, ENGINE_MS, sharedDocker, titleWithDocker } from '../services/shared-docker.ts';
import { sandboxContract } from './sandbox-contract.ts';

const MIB = 1024 * 1024;
const providers = new Map<string, Promise<SandboxProvider>>();
afterAll(async () => {
  for (const provider of providers.values()) await (await provider).close();
});

describe.skipIf(dockerGap !== null)(titleWithDocker('with an engine'), () => {
  beforeAll(sharedDocker, ENGINE_MS);

  sandboxContract({
    name: 'Docker',
    createProvider({ maxBytes, memoryMb = 512 }) {
      const key = `${maxBytes} ${memoryMb}`;
      const provider = providers.get(key) ?? open(Math.min(maxBytes, (memoryMb * MIB) / 2), memoryMb);
      providers.set(key, provider);
      return provider;
    },
  });
});

async function open(maxBytes: number, memoryMb: number): Promise<SandboxProvider> {
  const { socketPath, image } = await sharedDocker();
  return openDockerSandboxes({
    engine: { socketPath },
    image,
    maxBytes,
    memoryMb,
    cpus: 1,
    pids: 128,
    openFiles: 1024,
    jobTimeoutMs: 600_000,
    pool: 1,
    onError: () => undefined,
  });
}
