// What the command line needs to look after sessions, beside a service that may be running or not.
import { existsSync } from 'node:fs';
import { type Config, readSecrets } from '../config/config.ts';
import { openDatabase } from '../database/open-database.ts';
import { withDeadline } from '../deadline.ts';
import { PermanentError } from '../errors.ts';
import { whileSessionIsFree } from '../jobs/session-lock.ts';
import { createLogger, redactLog } from '../ops/log.ts';
import { openRecords } from '../records/open-records.ts';
import { redactError } from '../redact/redact-error.ts';
import type { OpenedStore } from '../session/create-store.ts';
import type { WhileFree } from '../session/prune.ts';
import { openRedactor } from './open-redactor.ts';
import { openStore } from './sessions.ts';

export interface SessionDesk {
  store: OpenedStore;
  /** A session by its id, by what it was called when it was set aside, or by enough of the beginning of either. */
  find(name: string): Promise<string>;
  /** Whom nobody works on, as far as can be told; `tell` hears when that is not far. */
  openWhileFree(tell: (words: string) => void): Promise<WhileFree>;
  /** Takes secrets out of what is shown: some sessions were saved before they were known. */
  redact(text: string): string;
  redactError(error: unknown): unknown;
  close(): Promise<void>;
}

const DATABASE_MS = 10_000;
/** Longer than a run may take without saving anything. */
const QUIET_MS = 2 * 3_600_000;

export function openSessionDesk(config: Config, env?: NodeJS.ProcessEnv): SessionDesk {
  const secrets = readSecrets(config, { store: true }, env);
  const plainLog = createLogger(config.log.level, process.stderr);
  const redactor = openRedactor(secrets, plainLog);
  const log = redactLog(plainLog, redactor);
  const store = openStore(config.store, { secrets, redactor, log });
  const closing: (() => Promise<void>)[] = [() => store.close()];

  async function connect(): Promise<WhileFree> {
    const { queueUrl: url } = secrets;
    // Where no service has ever run, nobody works on anything.
    if (url.startsWith('pglite:') && !existsSync(url.slice('pglite:'.length))) return doAtOnce;
    const onError = (): void => undefined;
    const opening = openDatabase(url, {
      keyPrefix: config.queue.keyPrefix,
      onError,
      learn: redactor.openHolder(),
    });
    const database = await withDeadline(DATABASE_MS, 'the database', opening);
    closing.push(() => database.close());
    const records = await openRecords(database, onError);
    closing.push(() => records.close());
    return whileSessionIsFree({ records, log });
  }

  return {
    store,

    async find(name) {
      const found: string[] = [];
      for await (const session of store.catalog.list()) {
        if (session.name === name) return name;
        if (session.name.startsWith(name)) found.push(session.name);
      }
      const [only, ...others] = found;
      if (only && others.length === 0) return only;
      throw new PermanentError(
        only
          ? `${found.length} sessions begin with ${name}; write more of the id`
          : `there is no session ${name}; 'hummingbird sessions list' shows all there are`,
      );
    },

    async openWhileFree(tell) {
      try {
        return await connect();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        tell(
          `who works on sessions is not known (${reason}); those that were saved in the last two hours are left alone`,
        );
        return unlessRecent(store);
      }
    },

    redact: redactor.text,
    redactError: (error) => redactError(error, redactor),

    async close() {
      for (const close of closing.splice(0).reverse()) await close();
    },
  };
}

async function doAtOnce(_id: string, work: () => Promise<void>): Promise<boolean> {
  await work();
  return true;
}

function unlessRecent({ catalog }: OpenedStore): WhileFree {
  return async (id, work) => {
    for await (const { savedAt } of catalog.objects(id))
      if (savedAt.getTime() > Date.now() - QUIET_MS) return false;
    await work();
    return true;
  };
}
