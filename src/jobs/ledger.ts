// Keeps a run within the limits of its project: every call of a model is booked before it is made.
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Ledger } from '../agent/ledger.ts';
import { ModelError } from '../agent/model.ts';
import type { ProjectRef } from '../queue/job.ts';
import type { Costs } from '../records/records.ts';

/** On whose account the model is asked. */
export interface ModelRun {
  runId: string;
  project: ProjectRef;
  mrIid: number;
}

/** In USD; one that is left out is not kept. */
export interface Caps {
  usdPerRun: number;
  usdPerMr?: number;
  usdPerDay?: number;
}

export interface LedgerOptions {
  costs: Costs;
  run: ModelRun;
  caps: Caps;
  log: Logger;
  now: () => number;
}

export function openLedger({ costs, run, caps, log, now }: LedgerOptions): Ledger {
  let spentMicroUsd = 0;
  return {
    spentMicroUsd: () => spentMicroUsd,
    async leftMicroUsd() {
      const limits = toLimits(run, caps, new Date(now()).toISOString().slice(0, 10));
      const left = await Promise.all(
        limits.map(async ({ name, capMicroUsd }) => capMicroUsd - (await costs.used(name))),
      );
      return Math.max(0, Math.min(...left));
    },
    async reserve(microUsd) {
      const at = new Date(now()).toISOString();
      const limits = toLimits(run, caps, at.slice(0, 10));
      // Of its own for each call: should this process die now, it tells whose money is set aside, and since when.
      const id = `${run.runId}/${at}/${randomUUID()}`;
      const outcome = await costs.reserve({ id, microUsd, scopes: limits });
      if (!outcome.granted) throw toNoMoney(limits, outcome, microUsd);
      spentMicroUsd += microUsd;
      return async (realMicroUsd) => {
        try {
          await costs.settle(id, realMicroUsd);
          spentMicroUsd += realMicroUsd - microUsd;
        } catch (error) {
          log.warn({ err: error, reservation: id, microUsd }, 'cost was not settled and counts as reserved');
        }
      };
    },
  };
}

/** Under which the calls of a run add up, all its tries together. */
export function toRunScope(runId: string): string {
  return `run:${runId}`;
}

/** With more digits where two would say nothing. */
export function toUsd(microUsd: number): string {
  const isTiny = microUsd > 0 && microUsd < 10_000;
  return `$${(microUsd / 1_000_000).toFixed(isTiny ? 4 : 2)}`;
}

interface Limit {
  name: string;
  capMicroUsd: number;
  /** What it is a limit of, and what helps. */
  of: string;
  fix: string;
}

function toLimits({ runId, project, mrIid }: ModelRun, caps: Caps, utcDate: string): Limit[] {
  const { usdPerRun, usdPerMr, usdPerDay } = caps;
  return [
    { name: toRunScope(runId), usd: usdPerRun, of: 'a run', fix: 'raise usdPerRun of the project' },
    {
      name: `mr:${project.id}!${mrIid}`,
      usd: usdPerMr,
      of: 'a merge request',
      fix: 'raise usdPerMr of the project',
    },
    {
      name: `day:${project.id}:${utcDate}`,
      usd: usdPerDay,
      of: 'the project and a day (UTC)',
      fix: 'raise usdPerDay of the project, or come back tomorrow',
    },
  ].flatMap(({ usd, ...limit }) =>
    usd === undefined ? [] : [{ ...limit, capMicroUsd: Math.floor(usd * 1_000_000) }],
  );
}

function toNoMoney(
  limits: readonly Limit[],
  { scope, capMicroUsd, usedMicroUsd }: { scope: string; capMicroUsd: number; usedMicroUsd: number },
  microUsd: number,
): ModelError {
  const limit = limits.find(({ name }) => name === scope);
  return new ModelError(
    'no-money',
    `the limit of ${toUsd(capMicroUsd)} for ${limit?.of} does not allow another call of the model: ` +
      `${toUsd(usedMicroUsd)} are used, and the call may cost ${toUsd(microUsd)}; to go on, ${limit?.fix}`,
    { unbilled: true },
  );
}
