/** Of one request: until its answer is whole, however steadily it drips. Silence ends it earlier. */
export const MAX_ANSWER_MS = 60_000;
/** The same for logs and files, which go on at the pace of who reads them. */
export const MAX_STREAM_MS = 600_000;

/** Why a request was given up that went on for too long. */
export class TooLateError extends Error {
  override readonly name = 'TooLateError';
}

export interface ReadDeadline {
  /** Aborted with the caller's reason, or with a TooLateError. */
  readonly signal: AbortSignal;
  /** To be called when the answer is whole, or nobody wants it any more. */
  stop(): void;
}

export function startReadDeadline(ms: number, outer: AbortSignal | undefined): ReadDeadline {
  const late = new AbortController();
  const reason = new TooLateError(`was not answered as a whole within ${ms / 1000} s`);
  const timer = setTimeout(() => late.abort(reason), ms).unref();
  return {
    signal: outer ? AbortSignal.any([outer, late.signal]) : late.signal,
    stop: () => clearTimeout(timer),
  };
}
