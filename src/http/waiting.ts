// How long to wait before asking again: what the headers say, or else a guess that grows.

/** Longer waits belong to the queue, which holds no worker while it waits. */
export const MAX_SLEEP_MS = 60_000;

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
// A wrong header or a wrong clock must not switch the client off for a day.
const MAX_ASKED_MS = 3_600_000;

/** Full jitter: workers that failed together do not come back together. */
export function backoffMs(attempt: number): number {
  return Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1));
}

/** What a 429 or 503 asks us to wait, if it says so. */
export function askedWaitMs(headers: Record<string, string>): number | undefined {
  return retryAfterMs(headers) ?? resetMs(headers);
}

/** How long to hold back because this answer used up the allowance; 0 when there is some left. */
export function usedUpMs(headers: Record<string, string>): number {
  if (headers['ratelimit-remaining'] !== '0') return 0;
  return Math.min(resetMs(headers) ?? 0, MAX_SLEEP_MS);
}

function retryAfterMs(headers: Record<string, string>): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (!Number.isNaN(seconds)) return bound(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : bound(date - serverTime(headers));
}

/** GitLab sends a Unix time, the RFC draft (and proxies that follow it) a number of seconds. */
function resetMs(headers: Record<string, string>): number | undefined {
  const value = Number(headers['ratelimit-reset'] ?? Number.NaN);
  if (Number.isNaN(value)) return undefined;
  const isUnixTime = value > 1_000_000_000;
  return bound(isUnixTime ? value * 1000 - serverTime(headers) : value * 1000);
}

/** The server's own clock, so that ours may be wrong. */
function serverTime(headers: Record<string, string>): number {
  const date = Date.parse(headers.date ?? '');
  return Number.isNaN(date) ? Date.now() : date;
}

function bound(ms: number): number {
  return Math.min(Math.max(0, ms), MAX_ASKED_MS);
}
