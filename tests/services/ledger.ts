import pino from 'pino';
import type { Ledger } from '../../src/agent/ledger.ts';
import { openLedger } from '../../src/jobs/ledger.ts';
import { createMemoryCosts } from '../../src/records/memory-costs.ts';

/** Of a run that may spend as much as it likes. */
export function newLedger(): Ledger {
  return openLedger({
    costs: createMemoryCosts(),
    run: { runId: '1', project: { id: 5, path: 'shop/checkout' }, mrIid: 7 },
    caps: { usdPerRun: 1_000 },
    log: pino({ level: 'silent' }),
    now: Date.now,
  });
}
