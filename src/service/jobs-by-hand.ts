// Looking after the queue from a terminal: what waits or failed, trying it again, stopping it.
import type { Logger } from 'pino';
import { type Config, readSecrets } from '../config/config.ts';
import { PermanentError } from '../errors.ts';
import { stopById } from '../jobs/stop-runs.ts';
import type { ListedJob } from '../queue/queue.ts';
import { type Backend, openBackend } from './backend.ts';

export interface ByHand {
  config: Config;
  log: Logger;
  env?: NodeJS.ProcessEnv;
}

const MAX_LISTED = 1_000;

export function listJobs(byHand: ByHand): Promise<ListedJob[]> {
  return withBackend(byHand, ({ queue }) => queue.list(MAX_LISTED));
}

/** All failed ones, or these; answers which are tried again. */
export function retryJobs(byHand: ByHand, wanted: 'all' | readonly string[]): Promise<string[]> {
  return withBackend(byHand, async ({ queue }) => {
    const failed = (await queue.list(MAX_LISTED)).filter(({ state }) => state === 'failed');
    const ids = wanted === 'all' ? failed.map(({ id }) => id) : wanted;
    const retried: string[] = [];
    for (const id of ids) {
      if (!(await queue.retry(id))) throw new PermanentError(`there is no failed job ${id}; ${HINT}`);
      retried.push(id);
    }
    return retried;
  });
}

export function stopJob(byHand: ByHand, id: string): Promise<void> {
  return withBackend(byHand, async ({ queue, records }) => {
    const stopping = { queue, records, log: byHand.log, now: Date.now };
    if ((await stopById(stopping, id, 'stopped by hand')) === 'not-found')
      throw new PermanentError(`there is no job ${id} that runs or waits; ${HINT}`);
  });
}

const HINT = "'hummingbird jobs list' shows what there is";

async function withBackend<T>(
  { config, log, env }: ByHand,
  use: (backend: Backend) => Promise<T>,
): Promise<T> {
  const { queueUrl } = readSecrets(config, {}, env);
  const backend = await openBackend(queueUrl, config.queue, log);
  try {
    return await use(backend);
  } finally {
    await backend.close();
  }
}
