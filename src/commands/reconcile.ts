import { type Command, InvalidArgumentError } from 'commander';
import type { Reconciled } from '../jobs/reconcile.ts';
import type { CommandParts } from './jobs.ts';
import { toCell, toTable } from './table.ts';

interface Options {
  since: number;
  dryRun?: boolean;
  json?: boolean;
  config?: string;
}

/** `hummingbird reconcile`. */
export function addReconcileCommand(program: Command, { configOption, load, print }: CommandParts): void {
  program
    .command('reconcile')
    .description(
      'find failed pipelines without an analysis and replies without an answer, and queue them once',
    )
    .option('--since <time>', 'how far to look back, as in 90m, 24h or 7d', toMs, toMs('24h'))
    .option('--dry-run', 'only show what would be queued, and why')
    .option('--json', 'one object: missed, mergeRequests, gaps')
    .addOption(configOption)
    .action(async (options: Options) => {
      const { createLogger } = await import('../ops/log.ts');
      const { reconcileByHand } = await import('../service/reconciler.ts');
      const { config } = await load(options.config);
      const stopping = new AbortController();
      process.once('SIGINT', () => stopping.abort(new Error('interrupted; what was queued stays queued')));
      const found = await reconcileByHand(
        { config, log: createLogger(config.log.level, process.stderr) },
        {
          since: new Date(Date.now() - options.since),
          dryRun: options.dryRun === true,
          signal: stopping.signal,
          onProgress: (words) => void process.stderr.write(`${words}\n`),
        },
      );
      if (options.json) print(JSON.stringify(found));
      else for (const line of describe(found, options.dryRun === true)) print(line);
      if (found.gaps.length > 0) process.exitCode = 1;
    });
}

function describe({ missed, mergeRequests, gaps }: Reconciled, isDryRun: boolean): string[] {
  const rows = missed.map(({ job, why }) => [
    toCell(`${job.project.path}!${job.mrIid}`),
    job.kind,
    toCell(why),
  ]);
  const what = isDryRun ? 'would be queued' : 'queued';
  return [
    ...(rows.length > 0 ? toTable([['MERGE REQUEST', 'JOB', 'WHY'], ...rows]) : []),
    `${missed.length} ${what}, ${mergeRequests} merge requests looked at`,
    ...gaps.map((gap) => `could not be looked at: ${toCell(gap, 300)}`),
  ];
}

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function toMs(text: string): number {
  const [, number, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  if (!number) throw new InvalidArgumentError('A time is needed, as in 90m, 24h or 7d.');
  return Number(number) * (UNITS[unit] ?? 0);
}
