import type { Config } from '../config/config.ts';
import { PermanentError } from '../errors.ts';
import type { SandboxProvider } from '../sandbox/sandbox.ts';
import { createVirtualSandboxes } from '../sandbox/virtual/provider.ts';

export interface SandboxesOptions {
  config: Config;
  /** What time it always is in the sandbox, for a run that is to be repeated. */
  stillAtMs?: number | undefined;
}

/** What the configuration asks for, never something else: what is not there is an error now. */
export async function openSandboxes({ config, stillAtMs }: SandboxesOptions): Promise<SandboxProvider> {
  const { sandbox } = config;
  if (sandbox.kind === 'virtual') return createVirtualSandboxes({ maxBytes: sandbox.maxBytes, stillAtMs });
  throw new PermanentError(`sandbox.kind '${sandbox.kind}' is not available yet; use virtual`);
}
