import type { Container } from './container.ts';

/** Containers that have been started ahead, so that a job does not wait for one. */
export interface Pool {
  /** Null when there is none ready. */
  take(): Container | null;
  add(container: Container): void;
  /** Starts what is missing, ends what is too old. */
  fill(): Promise<void>;
  close(): Promise<void>;
}

export interface PoolOptions {
  size: number;
  maxAgeMs: number;
  start: () => Promise<Container>;
  onError: (error: Error) => void;
}

export function createPool({ size, maxAgeMs, start, onError }: PoolOptions): Pool {
  const ready: Container[] = [];
  let filling: Promise<void> | undefined;
  let closed = false;

  async function fillNow(): Promise<void> {
    const isUsable = ({ ended, startedAt }: Container) => !ended && Date.now() - startedAt < maxAgeMs;
    const unusable = ready.filter((container) => !isUsable(container));
    for (const container of unusable) ready.splice(ready.indexOf(container), 1);
    for (const container of unusable) await container.remove();
    while (!closed && ready.length < size) ready.push(await start());
  }

  function fill(): Promise<void> {
    filling ??= fillNow()
      .catch(onError)
      .finally(() => {
        filling = undefined;
      });
    return filling;
  }

  return {
    take() {
      const index = ready.findIndex(({ ended }) => !ended);
      const [taken] = index === -1 ? [] : ready.splice(index, 1);
      if (!closed) fill();
      return taken ?? null;
    },
    add: (container) => void ready.push(container),
    fill,
    async close() {
      closed = true;
      await filling;
      await Promise.all(ready.splice(0).map((container) => container.remove().catch(onError)));
    },
  };
}
