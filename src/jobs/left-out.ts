import { isDeepStrictEqual } from 'node:util';
import type { LeftOutFile } from '../sandbox/sandbox.ts';
import type { SessionMeta, SessionStore } from '../session/session-store.ts';

export interface LeftOut {
  current(): SessionMeta['leftOut'];
  set(found: readonly LeftOutFile[]): void;
  /** And in the meta of the session, if it is another than before. */
  name(found: readonly LeftOutFile[]): Promise<void>;
}

/** Which files have no room in the session. Of those that only an earlier run has seen, the meta knows the size. */
export function createLeftOut({
  store,
  meta,
  now,
}: {
  store: SessionStore;
  meta: SessionMeta;
  now: () => number;
}): LeftOut {
  let { leftOut } = meta;
  const toNamed = (found: readonly LeftOutFile[]): SessionMeta['leftOut'] => {
    const known = new Map(leftOut.map(({ path, bytes }) => [path, bytes]));
    return found.map(({ path, bytes }) => ({ path, bytes: bytes ?? known.get(path) ?? null }));
  };
  return {
    current: () => leftOut,
    set(found) {
      leftOut = toNamed(found);
    },
    async name(found) {
      const named = toNamed(found);
      if (isDeepStrictEqual(named, leftOut)) return;
      const updatedAt = new Date(now()).toISOString();
      await store.saveMeta(meta.sessionId, { ...meta, leftOut: named, updatedAt });
      leftOut = named;
    },
  };
}
