// The command line: reads arguments, prints, and turns outcomes into exit codes.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import {
  ConfigError,
  configJsonSchema,
  defaultConfigText,
  loadConfig,
  readSecrets,
} from './config/config.ts';
import { createLogger } from './ops/log.ts';
import type { Role } from './service/assembly.ts';
import { startService } from './service/service.ts';

const EXIT = { failed: 1, usage: 2, config: 78 };

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));

const program = new Command('hummingbird')
  .description('CI failure analyst for GitLab: reads why a merge request failed and says what to do.')
  .version(version)
  .exitOverride()
  .showHelpAfterError('(hummingbird --help shows what there is)')
  .addHelpText(
    'after',
    `\nExit codes: 0 done, ${EXIT.failed} failed, ${EXIT.usage} wrong usage, ${EXIT.config} configuration to mend`,
  );

const roleOption = new Option('--role <role>', 'which part of the service this process is')
  .choices(['api', 'worker', 'all'])
  .default('all');
const configOption = new Option(
  '-c, --config <file>',
  'configuration file (default: hummingbird.yaml, if there is one)',
);

program
  .command('serve')
  .description('run the service: webhook, worker, or both')
  .addOption(roleOption)
  .addOption(configOption)
  .action(async (options: { role: Role; config?: string }) => {
    const { config, file } = load(options.config);
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

const config = program.command('config').description('make, check or describe the configuration');

config
  .command('init')
  .description('write a commented hummingbird.yaml with all defaults, and its schema for editors')
  .option('--force', 'overwrite what is there')
  .action((options: { force?: boolean }) => {
    const files = {
      'hummingbird.yaml': defaultConfigText(),
      'hummingbird.schema.json': schemaText(),
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
  .action((options: { role: Role; config?: string }) => {
    const { config, file } = load(options.config);
    const isWorker = options.role !== 'api';
    const needs = { webhook: options.role !== 'worker', gitlabRead: isWorker, gitlabWrite: isWorker };
    const { warnings } = readSecrets(config, needs);
    for (const warning of warnings) print(`warning: ${warning}`);
    print(`${file ?? 'The built-in configuration'} is fine for role '${options.role}'.`);
  });

config
  .command('schema')
  .description('print the JSON Schema of hummingbird.yaml')
  .action(() => print(schemaText().trimEnd()));

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

function load(file: string | undefined) {
  return loadConfig(file === undefined ? {} : { file });
}

function schemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve());
  });
}

function report(error: unknown): number {
  // Commander has printed its own message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  process.stderr.write(`hummingbird: ${error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof ConfigError ? EXIT.config : EXIT.failed;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
