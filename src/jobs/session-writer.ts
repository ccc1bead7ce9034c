import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Message } from '../agent/messages.ts';
import { type FilesMark, type Sandbox, SandboxLostError } from '../sandbox/sandbox.ts';
import type {
  FilesPart,
  Session,
  SessionContext,
  SessionMeta,
  SessionStore,
} from '../session/session-store.ts';
import { createLeftOut } from './left-out.ts';
import { KEPT_FOLDERS } from './restore-files.ts';

/**
 * Saves a run: each time first the files that have changed, then the conversation that names them. A saving that is
 * begun while another one is under way takes its place: what that one would still do is not done any more.
 */
export interface SessionWriter {
  /** From now on nobody else who has the session open can save it. */
  begin(messages: readonly Message[]): Promise<void>;
  checkpoint(messages: readonly Message[]): Promise<void>;
  /** All files in one archive, and what is known of the session now; what no conversation names is removed. */
  finish(messages: readonly Message[], meta: SessionMeta): Promise<void>;
  /** The same to another store, from which it is delivered later. */
  finishInto(store: SessionStore, messages: readonly Message[], meta: SessionMeta): Promise<void>;
  /** What is not in the files that were saved last. */
  leftOut(): SessionMeta['leftOut'];
}

export interface WriterOptions {
  store: SessionStore;
  sandbox: Sandbox;
  keepBytes: number;
  log: Logger;
  now: () => number;
  /** As it was loaded. */
  session: Session | null;
  meta: SessionMeta;
  /** To be kept, beside the usual ones. */
  folders: readonly string[];
  /** What is in the sandbox are the files of the session. */
  isRestored: boolean;
}

/** More of them, or more bytes in all but the first, and all files are saved anew instead. */
const MAX_PARTS = 32;
const MAX_CHANGED_BYTES = 64 * 1024 * 1024;

export function createSessionWriter(options: WriterOptions): SessionWriter {
  const { store, sandbox, keepBytes, log, session, meta } = options;
  const { sessionId: id } = meta;
  const folders = [...KEPT_FOLDERS, ...options.folders];
  const writer = randomUUID();
  const leftOut = createLeftOut(options);
  const found = session?.context.stamp?.id ?? null;
  let numbers = 0;
  let begun = 0;
  /** What the next conversation names; it is stored already. */
  let files = options.isRestored ? session?.context.files : [];
  let mark: FilesMark | null = null;

  function toContext(messages: readonly Message[], parts: FilesPart[] | undefined): SessionContext {
    numbers += 1;
    const stamp = { id: `${writer}.${numbers}`, after: found };
    return { version: 1, stamp, ...(parts && { files: parts }), messages: [...messages] };
  }

  function save(messages: readonly Message[]): Promise<void> {
    return store.saveContext(id, toContext(messages, files));
  }

  /** Answers what throws once another saving has begun. */
  function beginSaving(): () => void {
    begun += 1;
    const own = begun;
    return () => {
      if (own !== begun) throw new Error(`saving session ${id} was given up for a later saving`);
    };
  }

  async function saveChanges(assertLast: () => void): Promise<void> {
    const since = files && isShort(files) ? mark : null;
    const change = await sandbox.findChanges(folders, keepBytes, since);
    assertLast();
    if (change.pack) {
      const part = await store.saveFiles(id, change.pack());
      assertLast();
      files = since ? [...(files ?? []), part] : [part];
    }
    mark = change.mark;
    await leftOut.name(change.leftOut);
  }

  return {
    async begin(messages) {
      if (options.isRestored) mark = await sandbox.mark(folders);
      await save(messages);
      // Whom it is for has to be known should the run break off.
      if (!session?.meta) await store.saveMeta(id, meta);
    },

    async checkpoint(messages) {
      const assertLast = beginSaving();
      await saveChanges(assertLast).catch((error) => {
        // What was saved before is still there, and is what the sandbox has now.
        if (!(error instanceof SandboxLostError)) throw error;
        log.error({ err: error }, 'files of the session could not be saved');
        mark = null;
      });
      assertLast();
      await save(messages);
    },

    async finish(messages, ended) {
      const assertLast = beginSaving();
      // Listed before the conversation is saved: whoever comes after us has nothing in this list.
      const listed = await store.listFiles(id);
      const whole = await saveAll(store);
      assertLast();
      ({ files, mark } = whole);
      await save(messages);
      assertLast();
      await store.saveMeta(id, { ...ended, leftOut: leftOut.current() });
      assertLast();
      await tidy(messages, listed, assertLast).catch((error) =>
        log.warn({ err: error, session: id }, 'what is no longer needed of a session was not removed'),
      );
    },

    async finishInto(other, messages, ended) {
      beginSaving();
      const whole = await saveAll(other);
      await other.saveContext(id, toContext(messages, whole.files));
      await other.saveMeta(id, { ...ended, leftOut: leftOut.current() });
    },

    leftOut: leftOut.current,
  };

  async function saveAll(target: SessionStore): Promise<Whole> {
    try {
      const change = await sandbox.findChanges(folders, keepBytes, null);
      const parts = change.pack ? [await target.saveFiles(id, change.pack())] : [];
      leftOut.set(change.leftOut);
      return { files: parts, mark: change.mark };
    } catch (error) {
      if (!(error instanceof SandboxLostError) || target !== store) throw error;
      log.error({ err: error }, 'files of the session could not be saved');
      return { files, mark: null };
    }
  }

  /**
   * The archive gets its usual name. Others are removed before, so that a run that was late can not put one of them
   * there afterwards.
   */
  async function tidy(
    messages: readonly Message[],
    listed: readonly string[],
    assertLast: () => void,
  ): Promise<void> {
    const named = new Set(files?.map(({ name }) => name));
    await store.removeFiles(
      id,
      listed.filter((name) => !named.has(name)),
    );
    assertLast();
    const [whole, ...others] = files ?? [];
    if (!whole || others.length > 0 || !whole.name.startsWith('files/')) return;
    const copied = await store.copyToSandbox(id, whole);
    assertLast();
    files = [copied];
    await save(messages);
    assertLast();
    await store.removeFiles(id, [whole.name]);
  }
}

interface Whole {
  files: FilesPart[] | undefined;
  mark: FilesMark | null;
}

function isShort(parts: readonly FilesPart[]): boolean {
  const [first, ...changes] = parts;
  const changedBytes = changes.reduce((sum, { bytes }) => sum + bytes, 0);
  return parts.length < MAX_PARTS && changedBytes <= Math.max(MAX_CHANGED_BYTES, first?.bytes ?? 0);
}
