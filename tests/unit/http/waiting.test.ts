import { describe, expect, it } from 'vitest';
import { askedWaitMs, backoffMs, usedUpMs } from '../../../src/http/waiting.ts';

// Years away from this machine's clock: what counts is the server's.
const date = 'Tue, 01 Jan 2030 00:00:00 GMT';
const unix = Date.parse(date) / 1000;

describe('askedWaitMs', () => {
  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:00:45 GMT', date }, 45_000],
    [{ 'retry-after': 'Mon, 31 Dec 2029 00:00:00 GMT', date }, 0],
    [{ 'ratelimit-reset': String(unix + 12), date }, 12_000],
    [{ 'ratelimit-reset': '12', date }, 12_000],
    [{ 'retry-after': '3', 'ratelimit-reset': '12' }, 3_000],
    [{ 'retry-after': 'soon', 'ratelimit-reset': '12' }, 12_000],
    [{ 'retry-after': '99999999' }, 3_600_000],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('reads %j as %s ms', (headers, ms) => {
    expect(askedWaitMs(headers as Record<string, string>)).toBe(ms);
  });

  it('falls back to our own clock for a server without one', () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();

    const waitMs = askedWaitMs({ 'retry-after': inAMinute });

    expect(waitMs).toBeGreaterThan(50_000);
    expect(waitMs).toBeLessThanOrEqual(60_000);
  });
});

describe('usedUpMs', () => {
  it.each([
    [{ 'ratelimit-remaining': '0', 'ratelimit-reset': String(unix + 12), date }, 12_000],
    [{ 'ratelimit-remaining': '0', 'ratelimit-reset': String(unix + 900), date }, 60_000],
    [{ 'ratelimit-remaining': '0' }, 0],
    [{ 'ratelimit-remaining': '1', 'ratelimit-reset': String(unix + 12), date }, 0],
    [{}, 0],
  ])('reads %j as %s ms', (headers, ms) => {
    expect(usedUpMs(headers as Record<string, string>)).toBe(ms);
  });
});

describe('backoffMs', () => {
  it('is spread over all of a range that doubles up to 30 s', () => {
    const widest = [1, 2, 3, 7, 20].map((attempt) =>
      Math.max(...Array.from({ length: 2_000 }, () => backoffMs(attempt))),
    );

    for (const [index, limit] of [500, 1_000, 2_000, 30_000, 30_000].entries()) {
      expect(widest[index]).toBeLessThanOrEqual(limit);
      expect(widest[index]).toBeGreaterThan(limit * 0.9);
    }
  });
});
