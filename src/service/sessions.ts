import type { Logger } from 'pino';
import type { Config, Secrets } from '../config/config.ts';
import { PermanentError } from '../errors.ts';
import { createSpool, type Spool } from '../jobs/spool.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { OpenedStore } from '../session/create-store.ts';
import { openFolderStore } from '../session/folder-store.ts';
import { withRedaction } from '../session/redacted-store.ts';
import { StoreSetupError } from '../session/s3/to-store-error.ts';
import { openS3Store } from '../session/s3-store.ts';

export interface Sessions {
  store: OpenedStore;
  /** Null where there is no better place for what can not be saved. */
  spool: Spool | null;
}

export interface SessionsOptions {
  secrets: Pick<Secrets, 's3Credentials' | 'environment'>;
  redactor: Redactor;
  log: Logger;
}

/** Where sessions are kept. What a person has to mend is an error now; what is only away may come back. */
export async function openSessions(
  { store: config }: Config,
  { secrets, redactor, log }: SessionsOptions,
): Promise<Sessions> {
  const store = withRedaction(openStore(config, { secrets, redactor, log }), redactor);
  await store.probe().catch(async (error) => {
    if (error instanceof StoreSetupError) {
      await store.close();
      throw new PermanentError(`Sessions can not be saved: ${error.message}`, { cause: error });
    }
    log.error({ err: error }, 'sessions can not be saved now, jobs wait for it');
  });
  if (config.kind === 'folder') return { store, spool: null };
  const from = withRedaction(openFolder(config.spoolDir, log), redactor);
  return { store, spool: createSpool({ from, to: store, log }) };
}

export function openStore(config: Config['store'], { secrets, redactor, log }: SessionsOptions): OpenedStore {
  if (config.kind === 'folder') return openFolder(config.dir, log);
  const { prefix = '' } = config;
  const { s3Credentials: credentials, environment } = secrets;
  return openS3Store({ ...config, prefix, credentials, environment, learn: redactor.openHolder() });
}

function openFolder(dir: string, log: Logger): OpenedStore {
  return openFolderStore({
    dir,
    onUnreadable: (path, err) =>
      log.warn({ path, err }, 'left out of the sessions: it can not be read; mend its mode, or move it away'),
  });
}
