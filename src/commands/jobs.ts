import type { Command, Option } from 'commander';
import type { Config } from '../config/config.ts';
import type { ListedJob } from '../queue/queue.ts';
import { toCell, toTable } from './table.ts';

export interface CommandParts {
  /** `-c FILE`. */
  configOption: Option;
  load: (file: string | undefined) => Promise<{ config: Config }>;
  print: (text: string) => void;
}

/** `hummingbird jobs list | retry | stop`. */
export function addJobsCommand(program: Command, { configOption, load, print }: CommandParts): void {
  const jobs = program.command('jobs').description('look after the queue: what waits, runs or failed');

  const open = async (file: string | undefined) => {
    const { createLogger } = await import('../ops/log.ts');
    const { config } = await load(file);
    const byHand = await import('../service/jobs-by-hand.ts');
    return { byHand, setting: { config, log: createLogger(config.log.level, process.stderr) } };
  };

  jobs
    .command('list')
    .description('show the jobs that are not done, newest first')
    .option('--json', 'one object per line')
    .addOption(configOption)
    .action(async (options: { json?: boolean; config?: string }) => {
      const { byHand, setting } = await open(options.config);
      const found = await byHand.listJobs(setting);
      if (options.json) for (const one of found) print(JSON.stringify(one));
      else if (found.length === 0) print('No job waits, runs or failed.');
      else for (const line of toTable([HEAD, ...found.map(toRow)])) print(line);
    });

  jobs
    .command('retry')
    .description('try failed jobs again, with all their tries')
    .argument('[id...]', 'as jobs list shows them')
    .option('--all', 'every job that failed')
    .addOption(configOption)
    .action(async (ids: string[], options: { all?: boolean; config?: string }, command: Command) => {
      if (ids.length > 0 === (options.all === true))
        command.error('error: name the jobs to try again, or give --all');
      const { byHand, setting } = await open(options.config);
      const retried = await byHand.retryJobs(setting, options.all ? 'all' : ids);
      for (const id of retried) print(`${id} is tried again`);
      if (retried.length === 0) print('No job has failed.');
    });

  jobs
    .command('stop')
    .description('stop a job that runs, or take away one that waits')
    .argument('<id>', 'as jobs list shows it')
    .addOption(configOption)
    .action(async (id: string, options: { config?: string }) => {
      const { byHand, setting } = await open(options.config);
      await byHand.stopJob(setting, id);
      print(`${id} is stopped`);
    });
}

const HEAD = ['JOB', 'KIND', 'MERGE REQUEST', 'STATE', 'TRIES', 'SINCE', 'WHY'];

function toRow({ id, job, state, attempts, addedAt, reason }: ListedJob): string[] {
  const mr = `${job.project.path || job.project.id}${job.mrIid === null ? '' : `!${job.mrIid}`}`;
  const since = new Date(addedAt).toISOString().slice(0, 16).replace('T', ' ');
  return [id, job.kind, toCell(mr), state, String(attempts), since, toCell(reason ?? '')];
}
