import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ModelWishes } from '../service/arrange-model.ts';
import type { CommandParts } from './jobs.ts';

interface Options extends ModelWishes {
  post?: boolean;
  fresh?: boolean;
  config?: string;
}

/** `hummingbird analyze`. */
export function addAnalyzeCommand(program: Command, { configOption, load, print }: CommandParts): void {
  program
    .command('analyze')
    .description('analyze one merge request now, without queue and webhook')
    .argument('<url>', 'address of the merge request', toAddress)
    .option('--dry-run', 'print the note and post nothing (the default)')
    .addOption(new Option('--post', 'post the note on the merge request').conflicts('dryRun'))
    .option('--fresh', 'ask again what was answered before; the earlier session is set aside')
    .option('--model <name>', 'ask only this one of models.main, or play the model yourself with file:<dir>')
    .option('--record <dir>', 'keep every request and answer of the model in a new folder; implies --fresh')
    .addOption(
      new Option(
        '--replay <dir>',
        'repeat a recorded run without any model, in a session of its own; fails if a request is another',
      ).conflicts(['post', 'fresh', 'model', 'record']),
    )
    .addOption(configOption)
    .action(async (url: string, options: Options) => {
      const { createScreen, lookOf } = await import('../demo/screen.ts');
      const { renderMarkdown } = await import('../demo/terminal-markdown.ts');
      const { createLogger } = await import('../ops/log.ts');
      const { analyzeMergeRequest } = await import('../service/analyze.ts');
      const { config: file, post = false, ...wishes } = options;
      const { config } = await load(file);
      const progress = createScreen(process.stderr);
      // Whoever pipes it wants the source.
      const show = (note: string): void =>
        print(process.stdout.isTTY ? renderMarkdown(note, lookOf(process.stdout)).join('\n') : note);
      const stopping = new AbortController();
      process.once('SIGINT', () => stopping.abort(new Error('interrupted; the session is kept')));
      const analysis = await analyzeMergeRequest({
        ...wishes,
        config,
        url,
        post,
        log: createLogger(config.log.level, process.stderr),
        signal: stopping.signal,
        onEvent: (event) => progress.agent(event),
        show,
        tell: (words) => progress.text(words),
      });
      if (analysis.answeredBefore) progress.step('answered', 'answered before; --fresh asks again');
      progress.step(
        'done',
        analysis.isPosted ? `posted on ${analysis.mr.webUrl}` : 'nothing was posted; --post does',
      );
      if (analysis.ending === 'answered') return;
      progress.step('failed', `${analysis.ending}: ${analysis.reason}`);
      process.exitCode = 1;
    });
}

/** Whether it is one of the configured GitLab shows only when that is known. */
function toAddress(text: string): string {
  if (!URL.canParse(text) || !/\/merge_requests\/\d+/.test(text))
    throw new InvalidArgumentError(
      'It is not the address of a merge request, as in https://gitlab.example.com/group/app/-/merge_requests/7.',
    );
  return text;
}
