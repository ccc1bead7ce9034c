import { PermanentError } from '../errors.ts';
import { isLeftover, isName, isSession } from './names.ts';
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
      for await (const { keys, ...session } of group(objects.list('')))
        if (isSession(session.name, keys)) yield session;
    },

    async *leftovers() {
      if (!objects.listWithDrafts) return;
      for await (const { keys, ...session } of group(objects.listWithDrafts('')))
        if (isLeftover(session.name, keys)) yield session;
    },

    async savedAt(name) {
      assertName(name);
      const list = objects.listWithDrafts ?? objects.list;
      let last: Date | null = null;
      for await (const { savedAt } of list(`${name}/`)) last = last ? later(last, savedAt) : savedAt;
      return last;
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

type Group = StoredSession & { keys: string[] };

/** What lies under one name, for each name that may be one of ours; relies on the order of the keys. */
async function* group(found: AsyncIterable<StoredObject>): AsyncGenerator<Group> {
  let last: Group | undefined;
  for await (const { name: key, bytes, savedAt } of found) {
    const [name = ''] = key.split('/', 1);
    // What lies beside the sessions is none.
    if (!isName(name) || !key.includes('/')) continue;
    if (last && last.name !== name) yield last;
    if (last?.name !== name) last = { name, bytes: 0, savedAt, keys: [] };
    last.bytes += bytes;
    last.savedAt = later(last.savedAt, savedAt);
    last.keys.push(key.slice(name.length + 1));
  }
  if (last) yield last;
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function assertName(name: string): void {
  if (isName(name)) return;
  throw new PermanentError(
    `Not the name of a session: ${JSON.stringify(name)}; 'hummingbird sessions list' shows them`,
  );
}
