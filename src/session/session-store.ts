// The port of what outlives a run: the conversation, the sandbox's files, and what happened.
import type { Readable } from 'node:stream';
import type { Message } from '../agent/messages.ts';
import type { Usage } from '../agent/model.ts';

export interface SessionStore {
  /** Null when there is no such session. Throws `SessionCorruptError` when it can not be read. */
  load(id: string): Promise<Session | null>;
  /**
   * Replaces the conversation; whole or not at all. One with a stamp replaces only what its writer has found or saved
   * before: throws `SessionTakenError` when somebody else has saved since, or the same writer what is later.
   */
  saveContext(id: string, context: SessionContext): Promise<void>;
  saveMeta(id: string, meta: SessionMeta): Promise<void>;
  /** Keeps an archive of files under a name that nothing else has; it counts once a saved conversation names it. */
  saveFiles(id: string, archive: Readable): Promise<FilesPart>;
  /** The same archive again as `sandbox.tar.gz`, which must not be named by the saved conversation. */
  copyToSandbox(id: string, part: FilesPart): Promise<FilesPart>;
  /** Names of all archives, also of those that no conversation names. */
  listFiles(id: string): Promise<string[]>;
  removeFiles(id: string, names: readonly string[]): Promise<void>;
  /** Keeps turns that were cut out of the conversation, under `history/`. */
  saveHistory(id: string, messages: readonly Message[]): Promise<void>;
  /**
   * Takes a session out of the way, if there is one, so that nothing is written over it; `why` is kept with it.
   * Throws `PermanentError`.
   */
  setAside(id: string, why: 'bad' | 'old'): Promise<void>;
  /**
   * Adds one line to the transcript: an event, for people and pages, never read back by a run. Some seconds of it may
   * be held back until `flush`.
   */
  appendTranscript(id: string, event: Record<string, unknown>): Promise<void>;
  flush(id: string): Promise<void>;
  /** Throws when nothing can be saved now; else what is worth knowing of the place. */
  check(): Promise<Record<string, unknown>>;
  /** Flushes everything; the store is not used afterwards. */
  close(): Promise<void>;
}

/** For those who look after sessions. A name is the id of a session, or what it was called when it was set aside. */
export interface SessionCatalog {
  /** In the order of their names, those that were set aside too; nothing that others keep beside them. */
  list(): AsyncIterable<StoredSession>;
  /** What broken-off savings and removals have left, where there is no session. */
  leftovers(): AsyncIterable<StoredSession>;
  /** When anything of it was last saved, finished or not; null when there is nothing. */
  savedAt(name: string): Promise<Date | null>;
  /** Null when there is none. Throws `SessionCorruptError`. */
  loadMeta(name: string): Promise<SessionMeta | null>;
  objects(name: string): AsyncIterable<StoredObject>;
  /** One of those. */
  open(name: string, object: string): Promise<Readable>;
  /** Everything that is kept under the name. */
  remove(name: string): Promise<void>;
}

export interface StoredSession {
  name: string;
  bytes: number;
  /** When anything of it was last saved. */
  savedAt: Date;
}

export interface StoredObject {
  name: string;
  bytes: number;
  savedAt: Date;
}

export interface Session {
  context: SessionContext;
  meta: SessionMeta | null;
  /** Why there is no meta although it was saved: the conversation is good without it. */
  metaError: SessionCorruptError | null;
  /**
   * The archives that make the files of the sandbox, laid over each other in this order. Opening one throws
   * `SessionCorruptError` when it is missing, cut off or altered, before anything of it is given.
   */
  openFiles(): Promise<(() => Promise<Readable>)[]>;
}

export interface SessionContext {
  version: 1;
  stamp?: Stamp;
  /** Without it, `sandbox.tar.gz` if there is one. */
  files?: FilesPart[];
  /** At least one. */
  messages: Message[];
}

/** Tells one saving from every other. */
export interface Stamp {
  /** Of the writer, a dot, and a number that is larger with each saving. */
  id: string;
  /** What its writer has found; null for what has no stamp. */
  after: string | null;
}

export interface FilesPart {
  name: string;
  bytes: number;
  sha256: string;
}

export interface SessionMeta {
  version: 1;
  sessionId: string;
  projectId: number;
  projectPath: string;
  mrIid: number;
  /** Who could see the project when the session began; null for one that was saved before this was kept. */
  visibility: string | null;
  sha: string;
  workflow: string;
  /** Model of the last run. */
  model: string;
  createdAt: string;
  updatedAt: string;
  /** How the last run ended. */
  ending: string | null;
  /** Runs so far, replies included. */
  runs: number;
  /** All runs together. */
  usage: Usage;
  costMicroUsd: number;
  /** Files of the sandbox that were too large for the archive saved last; the size is null when nobody knows it. */
  leftOut: { path: string; bytes: number | null }[];
}

/** The session is there but can not be used: broken, or written by a newer version. */
export class SessionCorruptError extends Error {
  override readonly name = 'SessionCorruptError';
}

/** Somebody else works on the session by now; nothing was written. */
export class SessionTakenError extends Error {
  override readonly name = 'SessionTakenError';
}
