// Whatever happens to ten workers at once, no limit is exceeded: neither by what is booked nor by what is billed.
import fc from 'fast-check';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLedger } from '../../src/jobs/ledger.ts';
import { createMemoryCosts } from '../../src/records/memory-costs.ts';
import type { Costs } from '../../src/records/records.ts';
import { backends, titleOf } from '../services/backends.ts';
import { type Opened, openAll } from '../services/open-backend.ts';
import { history, play } from './money-history.ts';

/** What rounding to whole millionths may hide. */
const ROUNDING = 1;

async function expectCapsHold(costs: Costs, numRuns: number): Promise<void> {
  let refusals = 0;
  let spent = 0;
  await fc.assert(
    fc.asyncProperty(history, async (given) => {
      const seen = await play(costs, given);
      refusals += seen.refusals;
      for (const { capMicroUsd, booked, mostBooked, billed } of seen.accounts) {
        expect(Math.max(booked, mostBooked)).toBeLessThanOrEqual(capMicroUsd);
        expect(billed).toBeLessThanOrEqual(booked + ROUNDING);
        spent += booked;
      }
    }),
    { numRuns },
  );
  // Otherwise it has shown nothing.
  expect(refusals).toBeGreaterThan(0);
  expect(spent).toBeGreaterThan(0);
}

test('in memory, no history of calls exceeds a limit', async () => {
  await expectCapsHold(createMemoryCosts(), 300);
}, 60_000);

describe.each(backends)('on $name', (backend) => {
  describe.skipIf(!backend.available)(titleOf('limits', backend), () => {
    let address: { url: string; keyPrefix: string };
    let opened: Opened;
    beforeAll(async () => {
      address = await backend.create();
      opened = await openAll(address);
    });
    afterAll(() => opened.close());

    test('no history of calls exceeds a limit', async () => {
      await expectCapsHold(opened.records.costs, 8);
    }, 120_000);

    test('what a dead worker had set aside still counts for the one that takes over', async () => {
      const run = { runId: 'job-1', project: { id: 1_000_000, path: 'group/app' }, mrIid: 7 };
      const caps = { usdPerRun: 1, usdPerMr: 2, usdPerDay: 3 };
      const log = pino({ level: 'silent' });
      const open = () => openLedger({ costs: opened.records.costs, run, caps, log, now: Date.now });
      await open().reserve(700_000);
      await opened.close();
      opened = await openAll(address);
      await expect(open().reserve(400_000)).rejects.toThrow('$0.70 are used');
      await open().reserve(300_000);
    });
  });
});
