import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config/config.ts';
import { toPrintable } from '../demo/printable.ts';
import type { ListWishes, Terminal } from '../service/session-commands.ts';
import type { SessionDesk } from '../service/session-desk.ts';
import type { CommandParts } from './jobs.ts';

const DAY_MS = 86_400_000;

type SessionCommands = typeof import('../service/session-commands.ts');

/** `hummingbird sessions list | show | export | delete | prune`. */
export function addSessionsCommand(
  program: Command,
  { configOption, load, print, complain }: CommandParts & { complain: (text: string) => void },
): void {
  const atDesk = async (
    file: string | undefined,
    work: (commands: SessionCommands, desk: SessionDesk, terminal: Terminal, config: Config) => Promise<void>,
  ): Promise<void> => {
    const { openSessionDesk } = await import('../service/session-desk.ts');
    const { config } = await load(file);
    const desk = openSessionDesk(config);
    const terminal = {
      // Projects and endings are written by others.
      print: (text: string): void => print(toPrintable(desk.redact(text))),
      complain: (text: string): void => complain(desk.redact(text)),
    };
    try {
      await work(await import('../service/session-commands.ts'), desk, terminal, config);
    } catch (error) {
      throw desk.redactError(error);
    } finally {
      await desk.close();
    }
  };

  const sessions = program
    .command('sessions')
    .description('look after saved sessions: list, show, export, delete or prune them');

  sessions
    .command('list')
    .description('all sessions, oldest names first; a line each')
    .option('--project <project>', 'only of this project: its path or id')
    .option('--mr <iid>', 'only of this merge request', toCount)
    .option('--json', 'one object per line: name, bytes, savedAt, meta')
    .addOption(configOption)
    .action(async (options: { config?: string } & ListWishes) => {
      await atDesk(options.config, ({ listSessions }, desk, terminal) =>
        listSessions(desk, options, terminal),
      );
    });

  sessions
    .command('show')
    .description('what is known of a session, and what is kept of it')
    .argument('<id>', 'id of the session, or enough of its beginning')
    .option('--transcript', 'what happened in its runs, an event per line, instead')
    .addOption(configOption)
    .action(async (id: string, options: { config?: string; transcript?: boolean }) => {
      await atDesk(options.config, ({ showSession }, desk, terminal) =>
        showSession(desk, id, options, terminal),
      );
    });

  sessions
    .command('export')
    .description('everything of a session in a new tar.gz')
    .argument('<id>', 'id of the session, or enough of its beginning')
    .argument('<file>', 'the file to write')
    .addOption(configOption)
    .action(async (id: string, file: string, options: { config?: string }) => {
      await atDesk(options.config, ({ exportOne }, desk, terminal) => exportOne(desk, id, file, terminal));
    });

  sessions
    .command('delete')
    .description('delete a session for good, unless it is being worked on')
    .argument('<id>', 'id of the session, or enough of its beginning')
    .option('--yes', 'really; otherwise only the session is named')
    .addOption(configOption)
    .action(async (id: string, options: { config?: string; yes?: boolean }) => {
      await atDesk(options.config, async ({ deleteSession }, desk, terminal) => {
        if (!(await deleteSession(desk, id, options, terminal))) process.exitCode = 1;
      });
    });

  sessions
    .command('prune')
    .description('delete sessions that were not saved for long, unless they are being worked on')
    .option('--older-than <age>', 'such as 30d or 12h (default: store.retentionDays)', toAgeMs)
    .option('--dry-run', 'only name them')
    .addOption(configOption)
    .action(async (options: { config?: string; olderThan?: number; dryRun?: boolean }) => {
      await atDesk(options.config, ({ pruneOld }, desk, terminal, { store }) => {
        const { dryRun = false, olderThan = store.retentionDays * DAY_MS } = options;
        return pruneOld(desk, { olderThanMs: olderThan, dryRun }, terminal);
      });
    });
}

function toCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('A number is needed.');
  return count;
}

function toAgeMs(text: string): number {
  const [, count = '', unit = ''] = /^(\d+)([dh])$/.exec(text) ?? [];
  if (unit === '') throw new InvalidArgumentError('A number of days or hours is needed, such as 30d or 12h.');
  return Number(count) * (unit === 'd' ? DAY_MS : DAY_MS / 24);
}
