// Looking after the queue from a terminal: what waits or failed, trying it again, stopping it.
import type { Logger } from 'pino';
import { type Config, readSecrets } from '../config/config.ts';
import { PermanentError } from '../errors.ts';
import { stopById } from '../jobs/stop-runs.ts';
import { redactLog } from '../ops/log.ts';
import type { ListedJob } from '../queue/queue.ts';
import { redactError } from '../redact/redact-error.ts';
import { type Backend, openBackend } from './backend.ts';
import { openRedactor } from './open-redactor.ts';

export interface ByHand {
  config: Config;
  log: Logger;
  env?: NodeJS.ProcessEnv;
}

export function listJobs(byHand: ByHand): Promise<ListedJob[]> {
  return withBackend(byHand, ({ queue }) => queue.list());
}

/** All failed ones, or these; answers which are tried again. */
export function retryJobs(byHand: ByHand, wanted: 'all' | readonly string[]): Promise<string[]> {
  return withBackend(byHand, async ({ queue }) => {
    const failed = (await queue.list()).filter(({ state }) => state === 'failed').map(({ id }) => id);
    const ids = wanted === 'all' ? failed : [...new Set(wanted)];
    const known = new Set(failed);
    const wrong = ids.filter((id) => !known.has(id));
    if (wrong.length > 0)
      throw new PermanentError(`there is no failed job ${wrong.join(', ')}, so none is tried again; ${HINT}`);
    const retried: string[] = [];
    // One that somebody else has tried again meanwhile needs nothing more.
    for (const id of ids) if (await queue.retry(id)) retried.push(id);
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
  const secrets = readSecrets(config, {}, env);
  const redactor = openRedactor(secrets, log);
  try {
    const options = { log: redactLog(log, redactor), redactor };
    const backend = await openBackend(secrets.queueUrl, config.queue, options);
    return await use(backend).finally(() => backend.close());
  } catch (error) {
    throw redactError(error, redactor);
  }
}
