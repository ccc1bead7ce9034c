// How long a sandbox takes to start and a command in it, beside Docker's own commands: `npm run bench:sandbox`.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openDockerSandboxes } from '../src/sandbox/docker/provider.ts';
import type { Sandbox, SandboxProvider } from '../src/sandbox/sandbox.ts';
import { createVirtualSandboxes } from '../src/sandbox/virtual/provider.ts';
import { findDockerGap, startDocker } from '../tests/services/docker.ts';
import { MIB, toOptions } from '../tests/services/docker-options.ts';

const ROUNDS = 20;
const PURPOSE = { sessionId: 'bench', jobId: 'bench', openLastSaved: async () => null };
const run = promisify(execFile);

const engine = await startDocker();
if (engine) {
  try {
    await bench(`unix://${engine.socketPath}`, engine);
  } finally {
    await engine.stop();
  }
} else console.log(`skipped: ${findDockerGap()}`);

async function bench(host: string, on: { socketPath: string; image: string }): Promise<void> {
  const docker = (...args: string[]) => run('docker', ['--host', host, ...args]);
  const cold = await openDockerSandboxes(toOptions(on));
  const warm = await openDockerSandboxes(toOptions(on, { pool: 1 }));
  const virtual: SandboxProvider = createVirtualSandboxes({ maxBytes: 64 * MIB });
  const start = (provider: SandboxProvider) => async () => {
    const sandbox = await provider.create(PURPOSE);
    return () => sandbox.close();
  };

  await compare('start', {
    'docker run -d': async () => {
      const { stdout } = await docker('run', '-d', '--network', 'none', on.image, 'sleep', '60');
      return () => docker('rm', '-f', stdout.trim());
    },
    'Docker, cold': start(cold),
    'Docker, from the pool': start(warm),
    virtual: start(virtual),
  });

  const { stdout: id } = await docker('run', '-d', '--network', 'none', on.image, 'sleep', '600');
  const [container, shell] = [await cold.create(PURPOSE), await virtual.create(PURPOSE)];
  await compare('exec', {
    'docker exec': async () => {
      await docker('exec', id.trim(), 'sh', '-c', 'true');
      return null;
    },
    Docker: () => exec(container),
    virtual: () => exec(shell),
  });
  await docker('rm', '-f', id.trim());
  for (const one of [container, shell, cold, warm]) await one.close();
}

async function exec(sandbox: Sandbox): Promise<null> {
  const signal = new AbortController().signal;
  const { exitCode } = await sandbox.exec('true', { timeoutMs: 10_000, maxOutputBytes: 100, signal });
  if (exitCode !== 0) throw new Error(`ended with ${exitCode}`);
  return null;
}

/** What the work answers is done afterwards, outside the time. */
type Work = () => Promise<(() => Promise<unknown>) | null>;

/** All of them in turn, so that they see the same machine; the first one is the measure of the others. */
async function compare(what: string, rows: Record<string, Work>): Promise<void> {
  const times = new Map(Object.keys(rows).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, work] of Object.entries(rows)) {
      const startedAt = performance.now();
      const after = await work();
      times.get(name)?.push(performance.now() - startedAt);
      await after?.();
    }
  }
  const medians = [...times].map(
    ([name, all]) => [name, all.sort((a, b) => a - b)[ROUNDS / 2] ?? 0] as const,
  );
  const base = medians[0]?.[1] ?? 1;
  for (const [name, ms] of medians)
    console.log(
      `${what.padEnd(6)} ${name.padEnd(22)} median ${ms.toFixed(1)} ms  ${(ms / base).toFixed(2)}x`,
    );
}
