import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { whileSessionIsFree } from '../../../src/jobs/session-lock.ts';
import { pglite } from '../../services/backends.ts';
import { openAll } from '../../services/open-backend.ts';

test('a session is kept from others as long as the upkeep of it takes', async () => {
  const { records, close } = await openAll(await pglite.create());
  onTestFinished(close);
  const renewals: Promise<boolean>[] = [];
  const leases = {
    ...records.leases,
    renew(...args: Parameters<typeof records.leases.renew>) {
      const renewal = records.leases.renew(...args);
      renewals.push(renewal);
      return renewal;
    },
  };
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());

  const whileFree = whileSessionIsFree({ records: { leases }, log: pino({ level: 'silent' }) });
  const isDone = await whileFree('s', async () => {
    vi.advanceTimersByTime(30_000);
    expect(await Promise.all(renewals)).toEqual([true, true, true]);
    expect(await whileFree('s', async () => undefined)).toBe(false);
  });
  expect(isDone).toBe(true);
  expect(await whileFree('s', async () => undefined)).toBe(true);
});
