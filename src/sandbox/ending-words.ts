import type { ExecEnding } from './sandbox.ts';

/** What became of a command, for whoever wrote it; nothing if it exited by itself. */
export function toWords(ending: ExecEnding, { timeoutMs = 0, signal = 'a signal' } = {}): string {
  switch (ending) {
    case 'exited':
      return '';
    case 'timed-out':
      return `The command was ended after ${timeoutMs} ms. Do less at once.`;
    case 'out-of-memory':
      return 'The command, or a part of it, was ended: it needed too much memory. Do less at once.';
    case 'signal':
      return `The command was ended by ${signal}.`;
    case 'lost':
      return 'The sandbox broke and was replaced. Its files are those that were last saved, without what came since.';
  }
}

/** The words on a line of their own, at the end of what the command wrote. */
export function withWords(written: string, words: string): string {
  if (words === '') return written;
  const isWholeLine = written === '' || written.endsWith('\n');
  return `${written}${isWholeLine ? '' : '\n'}${words}\n`;
}
