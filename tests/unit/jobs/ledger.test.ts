import pino from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Caps, openLedger, toUsd } from '../../../src/jobs/ledger.ts';
import { createMemoryCosts } from '../../../src/records/memory-costs.ts';
import type { Costs } from '../../../src/records/records.ts';

const PROJECT = { id: 5, path: 'group/app' };
const CAPS: Caps = { usdPerRun: 1, usdPerMr: 2, usdPerDay: 3 };
const NOON = Date.parse('2026-11-18T12:00:00Z');
const USD = 1_000_000;

let costs: Costs;
let logged: Record<string, unknown>[];
beforeEach(() => {
  costs = createMemoryCosts();
  logged = [];
});

function open(runId: string, { mrIid = 7, caps = CAPS, now = NOON } = {}) {
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const run = { runId, project: PROJECT, mrIid };
  return openLedger({ costs, run, caps, log, now: () => now });
}

/** A call that costs just what was set aside. */
async function spend(runId: string, usd: number, options?: Parameters<typeof open>[1]) {
  const settle = await open(runId, options).reserve(usd * USD);
  await settle(usd * USD);
}

describe('a limit', () => {
  test('of the run is kept, and the refusal says which one, how large it is and what to change', async () => {
    await spend('a', 0.8);
    await expect(spend('a', 0.25)).rejects.toMatchObject({
      name: 'ModelError',
      kind: 'no-money',
      unbilled: true,
      message:
        'the limit of $1.00 for a run does not allow another call of the model: $0.80 are used, ' +
        'and the call may cost $0.25; to go on, raise usdPerRun of the project',
    });
    await spend('a', 0.2);
  });

  test('of the merge request adds up over its runs', async () => {
    await spend('a', 0.9);
    await spend('b', 0.9);
    await expect(spend('c', 0.9)).rejects.toThrow(
      /^the limit of \$2\.00 for a merge request .* raise usdPerMr of the project$/,
    );
    await spend('c', 0.9, { mrIid: 8 });
  });

  test('of the day adds up over the merge requests, and ends at midnight in UTC', async () => {
    for (const [mrIid, run] of ['a', 'b', 'c'].entries()) await spend(run, 0.9, { mrIid });
    const late = { mrIid: 9, now: Date.parse('2026-11-18T23:59:59.999Z') };
    await expect(spend('d', 0.9, late)).rejects.toThrow(
      /^the limit of \$3\.00 for the project and a day \(UTC\) .* raise usdPerDay of the project, or come back tomorrow$/,
    );
    await spend('d', 0.9, { mrIid: 9, now: Date.parse('2026-11-19T00:00:00Z') });
  });

  test('that refuses leaves the others as they are', async () => {
    await spend('a', 0.9);
    await spend('b', 0.9);
    await expect(spend('c', 0.9)).rejects.toMatchObject({ kind: 'no-money' });
    expect(await costs.used('run:c')).toBe(0);
    expect(await costs.used('day:5:2026-11-18')).toBe(1.8 * USD);
  });

  test('that is not given is not kept', async () => {
    const caps = { usdPerRun: 1 };
    for (const run of ['a', 'b', 'c', 'd', 'e']) await spend(run, 1, { caps });
    await expect(spend('e', 0.01, { caps })).rejects.toThrow('for a run');
  });
});

test('a try of the same run finds what the try before it had spent', async () => {
  await spend('a', 0.8);
  const again = open('a');
  expect(again.spentMicroUsd()).toBe(0);
  await expect(again.reserve(0.3 * USD)).rejects.toThrow('for a run');
});

test('what was set aside counts in full until it is settled, also if nobody will ever do that', async () => {
  const ledger = open('a');
  await ledger.reserve(0.6 * USD);
  expect(ledger.spentMicroUsd()).toBe(0.6 * USD);
  await expect(open('a').reserve(0.6 * USD)).rejects.toThrow('$0.60 are used');
});

test('every reservation has an id of its own that tells its run and its time', async () => {
  const ids: string[] = [];
  const { reserve } = costs;
  costs.reserve = (one) => {
    ids.push(one.id);
    return reserve(one);
  };
  const ledger = open('analyze-5-7');
  for (let call = 0; call < 3; call += 1) await ledger.reserve(1);
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(id).toMatch(/^analyze-5-7\/2026-11-18T12:00:00\.000Z\/[0-9a-f-]{36}$/);
});

test('a cost that can not be settled is told, and does not cost the answer that was paid for', async () => {
  costs = { ...costs, settle: () => Promise.reject(new Error('connection lost')) };
  const ledger = open('a');
  const settle = await ledger.reserve(0.6 * USD);
  await settle(0.1 * USD);
  expect(ledger.spentMicroUsd()).toBe(0.6 * USD);
  expect(logged).toMatchObject([{ err: { message: 'connection lost' }, microUsd: 600_000 }]);
});

test.each([
  [0, '$0.00'],
  [123_456, '$0.12'],
  [9_999, '$0.0100'],
  [420, '$0.0004'],
  [2_000_000, '$2.00'],
])('%i millionths are written as %s', (microUsd, text) => {
  expect(toUsd(microUsd)).toBe(text);
});
