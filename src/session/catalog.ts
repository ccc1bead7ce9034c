import { PermanentError } from '../errors.ts';
import type { SessionObjects } from './objects.ts';
import { corrupt, parseSaved } from './read-saved.ts';
import { sessionMeta } from './session-schema.ts';
import type { SessionCatalog, StoredObject, StoredSession } from './session-store.ts';

export function createCatalog(objects: SessionObjects): SessionCatalog {
  async function* objectsOf(name: string): AsyncGenerator<StoredObject> {
    assertName(name);
    for await (const object of objects.list(`${name}/`))
      yield { ...object, name: object.name.slice(name.length + 1) };
  }

  return {
    async *list() {
      let session: StoredSession | undefined;
      for await (const { name: key, bytes, savedAt } of objects.list('')) {
        const [name = ''] = key.split('/');
        if (!isName(name)) continue;
        if (session && session.name !== name) yield session;
        session =
          session?.name === name
            ? { name, bytes: session.bytes + bytes, savedAt: later(session.savedAt, savedAt) }
            : { name, bytes, savedAt };
      }
      if (session) yield session;
    },

    async loadMeta(name) {
      assertName(name);
      const text = await objects.read(`${name}/meta.json`);
      const place = { session: objects.where(name), name: 'meta.json' };
      return text === null ? null : parseSaved(text, sessionMeta, place);
    },

    objects: objectsOf,

    async open(name, object) {
      assertName(name);
      const opened = await objects.open(`${name}/${object}`);
      if (!opened) throw corrupt({ session: objects.where(name), name: object }, 'it is missing');
      return opened;
    },

    async remove(name) {
      assertName(name);
      await objects.removeSession(name);
    },
  };
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function isName(name: string): boolean {
  return /^[A-Za-z0-9-]{1,64}(?:\.\d+\.(?:bad|old))?$/.test(name);
}

function assertName(name: string): void {
  if (isName(name)) return;
  throw new PermanentError(
    `Not the name of a session: ${JSON.stringify(name)}; 'hummingbird sessions list' shows them`,
  );
}
