// The two kinds of failure that are thrown across rooms: what may work later, and what never will.

/** Something outside was away or busy; the same work may succeed later. */
export class RetryableError extends Error {
  override readonly name = 'RetryableError';
  /** How long the other side asked us to wait, if it did. */
  readonly retryAfterMs: number | undefined;
  /** Who was away, in words for people who know nothing of our hosts. */
  readonly who: string | undefined;

  constructor(message: string, options: { cause?: unknown; retryAfterMs?: number; who?: string } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
    this.who = options.who;
  }
}

/** Trying again can not help: a person has to change something first. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

/** The other side says it is not there; it says the same of what we may not see. */
export class NotFoundError extends PermanentError {}
