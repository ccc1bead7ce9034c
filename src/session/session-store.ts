// The port of what outlives a run: the conversation, the sandbox's files, and what happened.
import type { Readable } from 'node:stream';
import type { Message } from '../agent/messages.ts';
import type { Usage } from '../agent/model.ts';

export interface SessionStore {
  /** Null when there is no such session. Throws `SessionCorruptError` when it can not be read. */
  load(id: string): Promise<Session | null>;
  /** Replaces the conversation; whole or not at all. */
  saveContext(id: string, context: SessionContext): Promise<void>;
  saveMeta(id: string, meta: SessionMeta): Promise<void>;
  /** Replaces the archive with what the stream gives; whole or not at all. */
  saveArchive(id: string, archive: Readable): Promise<void>;
  /** Keeps turns that were cut out of the conversation, under `history/`. */
  saveHistory(id: string, messages: readonly Message[]): Promise<void>;
  /**
   * Takes a session out of the way, if there is one, so that nothing is written over it; `why` is kept with it.
   * Throws `PermanentError`.
   */
  setAside(id: string, why: 'bad' | 'old'): Promise<void>;
  /** Adds one line to the transcript: an event, for people and pages, never read back by a run. */
  appendTranscript(id: string, event: Record<string, unknown>): Promise<void>;
}

export interface Session {
  context: SessionContext;
  meta: SessionMeta | null;
  /** Why there is no meta although it was saved: the conversation is good without it. */
  metaError: SessionCorruptError | null;
  /** The tar.gz of the sandbox, if there is one; opened when asked for. */
  openArchive(): Promise<Readable | null>;
}

export interface SessionContext {
  version: 1;
  /** At least one. */
  messages: Message[];
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
