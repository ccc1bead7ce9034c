import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { openDockerSandboxes } from '../sandbox/docker/provider.ts';
import type { SandboxProvider } from '../sandbox/sandbox.ts';
import { createVirtualSandboxes } from '../sandbox/virtual/provider.ts';

export interface SandboxesOptions {
  config: Config;
  log: Logger;
  /** What time it always is in a virtual sandbox, for a run that is to be repeated; containers have the real one. */
  stillAtMs?: number | undefined;
}

/** What the configuration asks for, never something else: what is not there is an error now. */
export async function openSandboxes({ config, log, stillAtMs }: SandboxesOptions): Promise<SandboxProvider> {
  const { sandbox } = config;
  if (sandbox.kind === 'virtual') return createVirtualSandboxes({ maxBytes: sandbox.maxBytes, stillAtMs });
  const { socketPath, url } = sandbox;
  return openDockerSandboxes({
    ...sandbox,
    engine: url === undefined ? { socketPath } : { url },
    onError: (error) => log.warn({ err: error }, 'sandbox error'),
  });
}
