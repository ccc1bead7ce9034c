// Histories of ten workers that ask models on shared accounts, and what they came to.
import fc from 'fast-check';
import pino from 'pino';
import { mostTokens } from '../../src/agent/estimate.ts';
import type { Ledger } from '../../src/agent/ledger.ts';
import { type Model, ModelError, type ModelRequest, type Usage } from '../../src/agent/model.ts';
import { openLedger } from '../../src/jobs/ledger.ts';
import type { Price } from '../../src/models/price.ts';
import { withFallback } from '../../src/models/with-fallback.ts';
import { withLedger } from '../../src/models/with-ledger.ts';
import { withRetry } from '../../src/models/with-retry.ts';
import type { Costs } from '../../src/records/records.ts';
import { assistant, requestOf, user } from '../unit/models/requests.ts';

/** What becomes of a try. The shares are of the most it can take; what breaks off is billed by its share as well. */
const fate = fc.record({
  kind: fc.constantFrom(
    'answers' as const,
    'refuses' as const,
    'has no key' as const,
    'breaks off' as const,
    'is aborted' as const,
    'dies' as const,
  ),
  shares: fc.record({ input: share(), read: share(), write: share(), output: share() }),
});

const worker = fc.record({
  run: fc.nat(3),
  mr: fc.nat(1),
  price: fc.record({ input: price(), output: price(), cacheRead: price(), cacheWrite: price() }),
  calls: fc.array(
    fc.record({
      bytes: fc.nat(5_000),
      maxOutputTokens: fc.integer({ min: 1, max: 5_000 }),
      fates: fc.array(fate, { minLength: 1, maxLength: 8 }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
});

export const history = fc.record({
  caps: fc.record({ usdPerRun: cap(), usdPerMr: cap(), usdPerDay: cap() }),
  workers: fc.array(worker, { minLength: 10, maxLength: 10 }),
});

type Fate = typeof fate extends fc.Arbitrary<infer T> ? T : never;
type Worker = typeof worker extends fc.Arbitrary<infer T> ? T : never;
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

function share() {
  return fc.nat(1_000).map((n) => n / 1_000);
}

/** Odd ones, so that rounding matters. */
function price() {
  return fc.nat(50_000).map((n) => n / 997);
}

function cap() {
  return fc.integer({ min: 1_000, max: 3_000_000 }).map((n) => n / 1_000_000);
}

/** What became of one limit. */
export interface Account {
  capMicroUsd: number;
  /** At the end, and the most that was seen while it went on. */
  booked: number;
  mostBooked: number;
  /** By the vendors, with all digits. */
  billed: number;
}

const AT = Date.parse('2026-11-18T12:00:00Z');
let projects = 0;

/** Plays it on accounts of its own. */
export async function play(costs: Costs, { caps, workers }: History) {
  projects += 1;
  const project = { id: projects, path: `group/app-${projects}` };
  const accounts = new Map<string, Account>();
  let refusals = 0;

  const accountsOf = ({ run, mr }: Worker): [string, Account][] =>
    [
      [`run:${project.id}-${run}`, caps.usdPerRun] as const,
      [`mr:${project.id}!${mr}`, caps.usdPerMr] as const,
      [`day:${project.id}:2026-11-18`, caps.usdPerDay] as const,
    ].map(([scope, usd]) => {
      const fresh = { capMicroUsd: usd * 1_000_000, booked: 0, mostBooked: 0, billed: 0 };
      const account = accounts.get(scope) ?? fresh;
      accounts.set(scope, account);
      return [scope, account];
    });

  const work = async (worker: Worker): Promise<void> => {
    const run = { runId: `${project.id}-${worker.run}`, project, mrIid: worker.mr };
    const ledger = openLedger({ costs, run, caps, log: pino({ level: 'silent' }), now: () => AT });
    for (const call of worker.calls) {
      const outcome = await ask(ledger, worker, call, async (bill) => {
        for (const [scope, account] of accountsOf(worker)) {
          account.billed += bill;
          account.mostBooked = Math.max(account.mostBooked, await costs.used(scope));
        }
      });
      if (outcome instanceof ModelError && outcome.kind === 'no-money') refusals += 1;
      if (outcome === 'dead') return;
    }
  };
  await Promise.all(workers.map(work));
  for (const [scope, account] of accounts) account.booked = await costs.used(scope);
  return { accounts: [...accounts.values()], refusals };
}

/** One turn, with all its tries at two models; or 'dead' if the worker did not live to hear of it. */
async function ask(
  ledger: Ledger,
  { price }: Worker,
  { bytes, maxOutputTokens, fates }: Worker['calls'][number],
  onBill: (microUsd: number) => Promise<void>,
): Promise<unknown> {
  const aborting = new AbortController();
  const death = Promise.withResolvers<'dead'>();
  const coming = [...fates];
  const vendor: Model = {
    name: 'vendor/model',
    async generate(request) {
      const { kind, shares } = coming.shift() ?? LAST;
      const usage = toUsage(request, shares);
      const isFree = kind === 'refuses' || kind === 'has no key';
      await onBill(isFree ? 0 : toBill(usage, price));
      switch (kind) {
        case 'answers':
          return { message: assistant('ok'), usage, stop: 'end' };
        case 'refuses':
          throw new ModelError('retry', 'overloaded', { unbilled: true });
        case 'has no key':
          throw new ModelError('switch', 'no key', { unbilled: true });
        case 'breaks off':
          throw new ModelError('retry', 'half a stream');
        case 'is aborted':
          aborting.abort(new Error('closed'));
          throw aborting.signal.reason;
        case 'dies':
          death.resolve('dead');
          return new Promise(() => undefined);
      }
    },
  };
  const open = (): Model => withRetry(withLedger(vendor, { ledger, price }), { sleep: async () => {} });
  const turn = withFallback([open(), open()]).generate(
    requestOf([user('x'.repeat(bytes))], { maxOutputTokens, signal: aborting.signal }),
  );
  return Promise.race([turn.catch((error: unknown) => error), death.promise]);
}

const LAST: Fate = { kind: 'has no key', shares: { input: 0, read: 0, write: 0, output: 0 } };

/** Never above what a request can take; and a server that counts counts something. */
function toUsage(request: ModelRequest, { input, read, write, output }: Fate['shares']): Usage {
  const most = mostTokens(request, 'vendor/model', 1);
  const inputTokens = Math.floor(most * input);
  const cacheReadTokens = Math.floor((most - inputTokens) * read);
  const cacheWriteTokens = Math.floor((most - inputTokens - cacheReadTokens) * write);
  const outputTokens = Math.max(1, Math.floor(request.maxOutputTokens * output));
  return { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens };
}

function toBill(usage: Usage, { input, output, cacheRead, cacheWrite }: Price): number {
  return (
    usage.inputTokens * input +
    usage.outputTokens * output +
    usage.cacheReadTokens * cacheRead +
    usage.cacheWriteTokens * cacheWrite
  );
}
