import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { PermanentError } from '../errors.ts';
import { createCatalog } from './catalog.ts';
import type { SessionObjects } from './objects.ts';
import { corrupt, parseSaved } from './read-saved.ts';
import { sessionContext } from './session-schema.ts';
import {
  type FilesPart,
  type Session,
  type SessionCatalog,
  SessionCorruptError,
  type SessionStore,
} from './session-store.ts';
import { createTranscripts } from './transcripts.ts';

export interface OpenedStore extends SessionStore {
  catalog: SessionCatalog;
  /** Writes, reads and deletes, to be sure before work begins. */
  probe(): Promise<void>;
}

const SANDBOX = 'sandbox.tar.gz';
/** Not the name of a session. */
const PROBE = '.probe';

/** Sessions, wherever their objects lie. */
export function createSessionStore(objects: SessionObjects): OpenedStore {
  const transcripts = createTranscripts(objects);

  async function readMeta(id: string): Promise<Pick<Session, 'meta' | 'metaError'>> {
    try {
      return { meta: await catalog.loadMeta(id), metaError: null };
    } catch (error) {
      if (error instanceof SessionCorruptError) return { meta: null, metaError: error };
      throw error;
    }
  }

  async function openPart(id: string, part: FilesPart): Promise<Readable> {
    const opened = await objects.open(`${id}/${part.name}`, part);
    if (!opened) throw corrupt({ session: objects.where(id), name: part.name }, 'it is missing');
    return opened;
  }

  /** Of a session from before conversations named their archives. */
  async function openSandbox(id: string): Promise<(() => Promise<Readable>)[]> {
    const opened = await objects.open(`${id}/${SANDBOX}`);
    return opened ? [async () => opened] : [];
  }

  const catalog = createCatalog(objects);
  return {
    catalog,

    async load(id) {
      assertId(id);
      const text = await objects.read(`${id}/context.json`);
      if (text === null) return null;
      const place = { session: objects.where(id), name: 'context.json' };
      const context = parseSaved(text, sessionContext, place);
      const { files } = context;
      return {
        context,
        ...(await readMeta(id)),
        openFiles: async () => files?.map((part) => () => openPart(id, part)) ?? openSandbox(id),
      };
    },

    async saveContext(id, context) {
      assertId(id);
      await objects.write(`${id}/context.json`, JSON.stringify(context), context.stamp);
    },

    async saveMeta(id, meta) {
      assertId(id);
      await objects.write(`${id}/meta.json`, `${JSON.stringify(meta, null, 2)}\n`);
    },

    async saveFiles(id, archive) {
      assertId(id);
      const name = `files/${randomUUID()}.tar.gz`;
      return { name, ...(await objects.writeStream(`${id}/${name}`, archive)) };
    },

    async copyToSandbox(id, part) {
      assertId(id);
      await objects.copy(`${id}/${part.name}`, `${id}/${SANDBOX}`);
      return { ...part, name: SANDBOX };
    },

    async listFiles(id) {
      assertId(id);
      const names: string[] = [];
      for await (const { name } of objects.list(`${id}/files/`)) names.push(name.slice(id.length + 1));
      return names;
    },

    async removeFiles(id, names) {
      assertId(id);
      await objects.remove(names.map((name) => `${id}/${name}`));
    },

    async saveHistory(id, messages) {
      assertId(id);
      let count = 0;
      for await (const { name } of objects.list(`${id}/history/`)) count += name.endsWith('.json') ? 1 : 0;
      const number = (count + 1).toString().padStart(4, '0');
      await objects.write(`${id}/history/${number}.json`, JSON.stringify({ version: 1, messages }));
    },

    async setAside(id, why) {
      assertId(id);
      await transcripts.flush(id);
      await objects.move(id, `${id}.${Date.now()}.${why}`);
    },

    async appendTranscript(id, event) {
      assertId(id);
      // Now, not when its turn comes: the caller may go on to change it.
      await transcripts.append(id, JSON.stringify(event));
    },

    async flush(id) {
      assertId(id);
      await transcripts.flush(id);
    },

    check: () => objects.check(),

    async probe() {
      await objects.check();
      const key = `${PROBE}/${randomUUID()}.json`;
      await objects.write(key, '{}');
      await objects.read(key);
      await objects.removeSession(PROBE);
    },

    async close() {
      await transcripts.close();
      await objects.close();
    },
  };
}

function assertId(id: string): void {
  if (/^[A-Za-z0-9-]{1,64}$/.test(id)) return;
  throw new PermanentError(
    `Not the id of a session (letters, digits and -, at most 64): ${JSON.stringify(id)}`,
  );
}
