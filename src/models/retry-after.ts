/** How long a server asks to wait, in the headers: milliseconds, seconds or a date. */
export function fromRetryAfter(headers: Headers | undefined): number | undefined {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (ms >= 0) return ms;
  const after = headers?.get('retry-after') ?? '';
  const seconds = Number(after);
  if (after !== '' && seconds >= 0) return seconds * 1000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The same in the body of an error of Google's, whose SDK keeps no headers: `{ retryDelay: '34.07s' }`. */
export function fromRetryInfo(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details as { retryDelay?: unknown }[]) {
    const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(String(detail?.retryDelay)) ?? [];
    if (seconds !== undefined) return Math.round(Number(seconds) * 1000);
  }
  return undefined;
}
