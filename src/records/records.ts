// What processes share and what outlives them. One port per concern; every backend passes the same contract suite.
export interface Records {
  events: SeenEvents;
  runs: Runs;
  costs: Costs;
  leases: Leases;
  causes: Causes;
  feedback: Feedback;
  channel: Channel;
  close(): Promise<void>;
}

/** Which webhook events were taken already. One event has several keys; any of them known means known. */
export interface SeenEvents {
  /**
   * Takes all keys for `holdMs`, unless one of them is taken: of many callers exactly one gets 'claimed'.
   * 'held': somebody claimed it and may still fail; 'known': it was remembered.
   */
  claim(keys: string[], hold: { now: number; holdMs: number }): Promise<'claimed' | 'held' | 'known'>;
  /** Whether any of them was remembered. */
  isKnown(keys: string[], now: number): Promise<boolean>;
  /** The event is safely queued: keep its keys for long. */
  remember(keys: string[], hold: { now: number; holdMs: number }): Promise<void>;
  /** The event could not be queued: let the next delivery have it. */
  release(keys: string[]): Promise<void>;
}

export interface Run {
  id: string;
  jobId: string;
  sessionId: string | null;
  kind: string;
  projectId: number;
  projectPath: string;
  mrIid: number | null;
  sha: string | null;
  state: 'running' | 'ended';
  /** How it ended, in one word, and why, in a sentence. */
  ending: string | null;
  reason: string | null;
  attempt: number;
  /** Since when its tries fail; null while none has. */
  failingSince: number | null;
  startedAt: number;
  endedAt: number | null;
  /** Tokens as billed, of the last try; null until it has ended. */
  usage: RunUsage | null;
  /** All tries together; null until it has ended. */
  costMicroUsd: number | null;
}

export interface RunUsage {
  inputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
}

export interface Runs {
  /** Creates or replaces; with `fence`, throws `LeaseLostError` once the lease went to somebody else. */
  save(run: Run, fence?: Lease): Promise<void>;
  get(id: string): Promise<Run | null>;
  /** Newest first. */
  list(filter: RunFilter): Promise<Run[]>;
}

export interface RunFilter {
  mr?: { projectId: number; iid: number };
  state?: Run['state'];
  limit: number;
}

export interface Reservation {
  /** Reserving the same id again changes nothing. */
  id: string;
  microUsd: number;
  scopes: { name: string; capMicroUsd: number }[];
}

export type ReservationOutcome =
  | { granted: true }
  | { granted: false; scope: string; capMicroUsd: number; usedMicroUsd: number };

/** Money: reserved against every cap before it is spent, all or nothing, settled afterwards. */
export interface Costs {
  reserve(reservation: Reservation): Promise<ReservationOutcome>;
  /** Replaces the reserved amount by the real one; an unsettled reservation counts in full. */
  settle(id: string, microUsd: number): Promise<void>;
  used(scope: string): Promise<number>;
}

export interface Lease {
  name: string;
  holder: string;
  /** Grows with every grant, so that a late writer can be told from the current one. */
  token: number;
}

export interface LeaseOptions {
  holder: string;
  ttlMs: number;
  /** How many may hold it at once; 1 makes it a lock. */
  limit?: number;
}

export interface Leases {
  /** Null when all places are taken. A holder that has a place already gets it anew, with a new token. */
  acquire(name: string, options: LeaseOptions): Promise<Lease | null>;
  /** False when the lease ran out and is no longer ours. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>;
  release(lease: Lease): Promise<void>;
  holders(name: string): Promise<{ holder: string; token: number; expiresInMs: number }[]>;
}

export interface CauseSighting {
  projectId: number;
  fingerprint: string;
  title: string;
  /** One run counts once. */
  runId: string;
  mrIid: number;
  at: number;
}

export interface Cause {
  fingerprint: string;
  title: string;
  count: number;
  firstAt: number;
  lastAt: number;
  mrIids: number[];
}

export interface Causes {
  note(sighting: CauseSighting): Promise<Cause>;
  get(projectId: number, fingerprint: string): Promise<Cause | null>;
  /** Last seen first. */
  recent(projectId: number, limit: number): Promise<Cause[]>;
}

export interface Verdict {
  projectId: number;
  noteId: number;
  awardId: number;
  userId: number;
  value: 'up' | 'down';
  /** A verdict taken back stays taken back, in whichever order the two events arrive. */
  given: boolean;
}

export interface Feedback {
  save(verdict: Verdict): Promise<void>;
  of(projectId: number, noteId: number): Promise<{ up: number; down: number }>;
}

/** Live messages to whoever listens now, in any process; nothing is kept for those who do not. */
export interface Channel {
  publish(topic: string, message: unknown): Promise<void>;
  subscribe(topic: string, onMessage: (message: unknown) => void): Promise<() => Promise<void>>;
}

/** Somebody else holds the lease by now; what this holder was doing is theirs. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}
