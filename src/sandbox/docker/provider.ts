import { PermanentError } from '../../errors.ts';
import type { SandboxProvider, SandboxPurpose } from '../sandbox.ts';
import { type Container, startContainer } from './container.ts';
import { type ContainerLimits, toName } from './container-options.ts';
import { createDockerSandbox } from './docker-sandbox.ts';
import { ask, connectEngine, type EngineAddress, isGone } from './engine.ts';
import { createPool } from './pool.ts';
import { reap } from './reap.ts';

export interface DockerSandboxesOptions extends Omit<ContainerLimits, 'lifetimeMs' | 'maxFiles'> {
  engine: EngineAddress;
  /** Files, folders and links of a sandbox. */
  maxFiles?: number;
  /** For all commands of a job together. */
  jobTimeoutMs: number;
  /** How many containers are kept ready. */
  pool: number;
  /** How often it looks for what others have left behind, and for gaps in the pool. */
  tickMs?: number;
  /** What went wrong and is tried again, or harms nobody. */
  onError: (error: Error) => void;
}

/** For what comes after the last command: saving the files. */
const SAVING_MS = 600_000;

/** A container of its own for each job. Throws when engine or image are missing, or no container can be started. */
export async function openDockerSandboxes(options: DockerSandboxesOptions): Promise<SandboxProvider> {
  const { image, maxFiles = 20_000, jobTimeoutMs, tickMs = 60_000, onError } = options;
  const engine = connectEngine(options.engine);
  // Long enough for a job that takes it out of the pool at the last moment.
  const limits = { ...options, maxFiles, lifetimeMs: 2 * jobTimeoutMs + SAVING_MS };
  const pool = createPool({ size: options.pool, maxAgeMs: jobTimeoutMs, start: () => start(null), onError });

  async function start(purpose: SandboxPurpose | null): Promise<Container> {
    try {
      return await startContainer(engine, limits, purpose);
    } catch (error) {
      if (isGone(error)) await checkImage();
      throw error;
    }
  }

  async function check(): Promise<void> {
    await ask('looking for the engine', engine.ping());
    await checkImage();
  }

  async function checkImage(): Promise<void> {
    try {
      await ask('looking for the image', engine.getImage(image).inspect());
    } catch (error) {
      if (!isGone(error)) throw error;
      throw new PermanentError(
        `the engine has no image ${image}; build it: docker build -f docker/sandbox.Dockerfile -t ${image} docker`,
        { cause: error },
      );
    }
  }

  async function takeOrStart(purpose: SandboxPurpose): Promise<Container> {
    const ready = pool.take();
    if (!ready) return start(purpose);
    try {
      await ready.rename(toName(purpose));
      return ready;
    } catch (error) {
      onError(new Error('a sandbox that was kept ready can not be used', { cause: error }));
      await ready.remove().catch(onError);
      return start(purpose);
    }
  }

  await check();
  await reap(engine);
  // If none can be started, that shall be known now.
  const first = await start(null);
  if (options.pool > 0) pool.add(first);
  else await first.remove();
  pool.fill();
  const tick = setInterval(() => {
    Promise.all([reap(engine), pool.fill()]).catch(onError);
  }, tickMs).unref();

  return {
    create: (purpose) =>
      createDockerSandbox({
        ...limits,
        jobTimeoutMs,
        onError,
        openLastSaved: purpose.openLastSaved,
        start: () => takeOrStart(purpose),
      }),
    check,
    async close() {
      clearInterval(tick);
      await pool.close();
    },
  };
}
