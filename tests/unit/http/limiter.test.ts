import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/http/clock.ts';
import { createLimiter } from '../../../src/http/limiter.ts';
import { createFakeClock, failureOf } from '../gitlab/gitlab-server.ts';

async function takeTimes(maxRequestsPerMinute: number, count: number): Promise<number[]> {
  const clock = createFakeClock();
  const limiter = createLimiter(maxRequestsPerMinute, clock, 'GitLab');
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: count }, () => limiter.take('GET /x').then(() => times.push(clock.now()))),
  );
  return times;
}

describe('limiter', () => {
  it.each([1, 2, 7, 60, 300])('lets no more than %i through in any minute', async (max) => {
    const times = await takeTimes(max, max * 3);

    const most = Math.max(
      ...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length),
    );
    expect(most).toBe(max);
  });

  it('spreads requests evenly after a small burst', async () => {
    const times = await takeTimes(60, 10);

    const gaps = times.slice(1).map((at, index) => Math.round(at - (times[index] ?? 0)));
    expect(gaps).toEqual([0, 0, 0, 0, 0, 1091, 1091, 1091, 1091]);
  });

  it('serves whoever came first', async () => {
    const limiter = createLimiter(600_000, systemClock, 'GitLab');
    const order: number[] = [];
    limiter.pause(20);

    await Promise.all([1, 2, 3].map((who) => limiter.take('GET /x').then(() => order.push(who))));

    expect(order).toEqual([1, 2, 3]);
  });

  it('lets an aborted one leave at once, from the head and from the middle of the line', async () => {
    const limiter = createLimiter(1, systemClock, 'GitLab');
    await limiter.take('GET /x');
    const [head, middle] = [new AbortController(), new AbortController()];
    const waiting = [
      failureOf(limiter.take('GET /head', head.signal)),
      failureOf(limiter.take('GET /middle', middle.signal)),
    ];

    middle.abort('middle left');
    expect(await waiting[1]).toBe('middle left');
    head.abort('head left');
    expect(await waiting[0]).toBe('head left');
  });

  it('does not count the ones that left', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter(1, clock, 'GitLab');
    const gone = failureOf(limiter.take('GET /x', AbortSignal.abort('left')));

    await limiter.take('GET /x');

    expect(await gone).toBe('left');
    expect(clock.now()).toBe(0);
  });

  it('tells those already in line about a pause too long to wait for', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter(1, clock, 'GitLab');
    await limiter.take('GET /x');
    const waiting = failureOf(limiter.take('GET /y'));
    limiter.pause(600_000);

    expect(await waiting).toMatchObject({ message: expect.stringContaining('GET /y was not sent') });
  });
});
