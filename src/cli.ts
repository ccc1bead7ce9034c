// The command line: reads arguments, prints, and turns outcomes into exit codes.
// Each command loads what it needs: a look at a log should not wait for a service to be loaded.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { addAnalyzeCommand } from './commands/analyze.ts';
import { addJobsCommand } from './commands/jobs.ts';
import { addReconcileCommand } from './commands/reconcile.ts';
import { addSessionsCommand } from './commands/sessions.ts';
import type { EvidenceCommand } from './evidence/command.ts';
import type { Role } from './service/assembly.ts';

/** Less holds hardly a line. */
const MIN_EVIDENCE_BYTES = 100;
const EXIT = { failed: 1, usage: 2, config: 78 };
/** When nobody reads the output any more; `head` does not, once it has enough. */
let exitWhenUnread = 0;

// What a command loads is compiled once, not at every start; where this can not be written, nothing is kept.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'));

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));

const OWN_GITLAB = `
To run it on your own GitLab:
  bin/hummingbird config init             writes hummingbird.yaml; set gitlab.url in it
  export GITLAB_READ_TOKEN=…              an access token with scope read_api
  export GITLAB_WRITE_TOKEN=…             the agent's own token, scope api
  export ANTHROPIC_API_KEY=…              or GEMINI_API_KEY, see 'models' in the file
  export HUMMINGBIRD_WEBHOOK_TOKEN=$(openssl rand -hex 32)
  bin/hummingbird serve                   then add the webhook in GitLab: <this host>/webhooks/gitlab
or look at one merge request first, without posting anything:
  bin/hummingbird analyze https://gitlab.example.com/group/app/-/merge_requests/7`;

const program = new Command('hummingbird')
  .description('CI failure analyst for GitLab: reads why a merge request failed and says what to do.')
  .version(version)
  .exitOverride()
  .showHelpAfterError('(hummingbird --help shows what there is)')
  .addHelpText(
    'after',
    `\nExit codes: 0 done, ${EXIT.failed} failed, ${EXIT.usage} wrong usage, 69 not installed, ${EXIT.config} configuration to mend`,
  );

const roleOption = new Option('--role <role>', 'which part of the service this process is')
  .choices(['api', 'worker', 'all'])
  .default('all');
const configOption = new Option(
  '-c, --config <file>',
  'configuration file (default: $HUMMINGBIRD_CONFIG, or hummingbird.yaml if there is one)',
);

program
  .command('serve')
  .description('run the service: webhook, worker, or both')
  .addOption(roleOption)
  .addOption(configOption)
  .action(async (options: { role: Role; config?: string }) => {
    // A service is never done, least of all without its log.
    exitWhenUnread = EXIT.failed;
    const { createLogger } = await import('./ops/log.ts');
    const { startService } = await import('./service/service.ts');
    const { config, file } = await load(options.config);
    const log = createLogger(config.log.level);
    log.info({ file: file ?? 'built-in defaults' }, 'configuration read');
    const service = await startService({ config, role: options.role, log, version });
    await waitForSignal();
    // A second signal means now.
    process.once('SIGINT', () => process.exit(EXIT.failed)).once('SIGTERM', () => process.exit(EXIT.failed));
    log.info('stopping; a second signal ends at once');
    await service.stop();
    log.info('stopped');
    // A connection to something that is away may still be trying; nothing is left that it could do.
    process.exit(0);
  });

const parts = { configOption, load, print };
addAnalyzeCommand(program, parts);

program
  .command('demo')
  .description('show the whole story on this machine: a pretend GitLab, the service, a model')
  .option('--keep', 'leave everything running afterwards')
  .option('--fast', 'no pauses for people to follow')
  .action(async (options: { keep?: boolean; fast?: boolean }) => {
    const { runDemo } = await import('./demo/run-demo.ts');
    const { createScreen } = await import('./demo/screen.ts');
    const screen = createScreen(process.stdout);
    const ending = new AbortController();
    const { signal } = ending;
    // One key press may come as several signals: from the terminal and from npm.
    process.on('SIGINT', () => ending.abort(130)).on('SIGTERM', () => ending.abort(143));
    const beforeEnd = async ({ gitlab, service }: { gitlab: string; service: string }): Promise<void> => {
      screen.text(OWN_GITLAB);
      if (!options.keep) return;
      screen.text(`\nStill running: GitLab ${gitlab}, service ${service}. Ctrl-C ends it.`);
      if (!signal.aborted) await once(signal, 'abort');
    };
    try {
      await runDemo({ screen, version, stepMs: options.fast ? 0 : 400, signal, beforeEnd });
    } catch (error) {
      if (!signal.aborted) process.exit(report(error));
      screen.text('\nInterrupted.');
      process.exit(signal.reason);
    }
    process.exit(0);
  });

program
  .command('evidence')
  .description('print the lines of logs that explain why a job failed, as the model sees them')
  .argument('<file...>', 'logs; - for the standard input')
  .option('--max-bytes <n>', 'size of what is printed of each', toSize, 4096)
  .option('--reference <passing-log>', 'a log of the same job that passed, to tell what is new')
  .option('--json', 'one object per line and file: file, bytes, text, ranges')
  .option('--explain', 'also say why each line is shown')
  .addHelpText('after', '\nLines are printed as NUMBER|TEXT; [… N lines] stands for lines that are left out.')
  .action(async (files: string[], options: Omit<EvidenceCommand, 'files'>, command: Command) => {
    const { reference } = options;
    if ([...files, reference].filter((file) => file === '-').length > 1)
      command.error("error: '-' can be given only once: the standard input can not be read again");
    const { showEvidence } = await import('./evidence/command.ts');
    const isDone = await showEvidence({ files, ...options }, { print, complain });
    if (!isDone) process.exitCode = EXIT.failed;
  });

addJobsCommand(program, parts);
addReconcileCommand(program, parts);
addSessionsCommand(program, { ...parts, complain });

const config = program.command('config').description('make, check or describe the configuration');

config
  .command('init')
  .description('write a commented hummingbird.yaml with all defaults, and its schema for editors')
  .option('--force', 'overwrite what is there')
  .action(async (options: { force?: boolean }) => {
    const { defaultConfigText } = await import('./config/config.ts');
    const files = {
      'hummingbird.yaml': defaultConfigText(),
      'hummingbird.schema.json': await schemaText(),
    };
    const existing = Object.keys(files).filter((file) => existsSync(file));
    if (existing.length > 0 && !options.force)
      throw new Error(`${existing.join(' and ')} would be overwritten; use --force to do so`);
    for (const [file, text] of Object.entries(files)) writeFileSync(file, text);
    print(`wrote ${Object.keys(files).join(' and ')}; next: 'hummingbird config check'`);
  });

config
  .command('check')
  .description('report every problem of the configuration and of the environment, each with its fix')
  .addOption(roleOption)
  .addOption(configOption)
  .action(async (options: { role: Role; config?: string }) => {
    const { checkAll } = await import('./config/check-all.ts');
    const isWorker = options.role !== 'api';
    const needs = {
      gitlabRead: isWorker,
      gitlabWrite: isWorker,
      models: isWorker,
      sources: isWorker,
      store: isWorker,
    };
    const { file, warnings } = checkAll(
      { file: options.config },
      { ...needs, webhook: options.role !== 'worker' },
    );
    for (const warning of warnings) print(`warning: ${warning}`);
    print(`${file ?? 'The built-in configuration'} is fine for role '${options.role}'.`);
  });

config
  .command('schema')
  .description('print the JSON Schema of hummingbird.yaml')
  .action(async () => print((await schemaText()).trimEnd()));

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitWhenUnread);
  complain(`the output can not be written: ${error.message}`);
  process.exit(EXIT.failed);
});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

async function load(file: string | undefined) {
  const { loadConfig } = await import('./config/config.ts');
  return loadConfig(file === undefined ? {} : { file });
}

async function schemaText(): Promise<string> {
  const { configJsonSchema } = await import('./config/config.ts');
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve());
  });
}

function toSize(text: string): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size < MIN_EVIDENCE_BYTES)
    throw new InvalidArgumentError(`A number of bytes is needed, at least ${MIN_EVIDENCE_BYTES}.`);
  return size;
}

function report(error: unknown): number {
  // Commander has printed its own message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  complain(error instanceof Error ? error.message : String(error));
  return error instanceof Error && error.name === 'ConfigError' ? EXIT.config : EXIT.failed;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): void {
  process.stderr.write(`hummingbird: ${text}\n`);
}
