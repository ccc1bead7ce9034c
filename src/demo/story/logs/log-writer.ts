import { CLEAR_LINE, runnerCyan } from './colours.ts';
import { createRandom, type Random } from './random.ts';

/** A job's trace, and the numbers of the lines that matter, counted from 1. */
export type JobLog<Key extends string = string> = { text: string; lines: Readonly<Record<Key, number>> };

export type LogWriter = {
  readonly random: Random;
  /** Writes a line and answers its number, counted from 1. */
  line(text?: string): number;
  /** A part that GitLab folds, with its marks and its title. */
  section(name: string, title: string, write: () => void): void;
  /** Lets time go by. */
  pass(ms: number): void;
  /** The time in the log, as ISO 8601. */
  time(): string;
  text(): string;
};

export function createLogWriter({ startedAt, seed }: { startedAt: Date; seed: number }): LogWriter {
  const lines: string[] = [];
  let atMs = startedAt.getTime();
  // The runner writes no line end after a mark: it stands in front of whatever comes next.
  let marks = '';

  const line = (text = ''): number => {
    lines.push(marks + text);
    marks = '';
    return lines.length;
  };
  const mark = (kind: 'start' | 'end', name: string): void => {
    marks += `section_${kind}:${Math.floor(atMs / 1000)}:${name}${CLEAR_LINE}`;
  };
  return {
    random: createRandom(seed),
    line,
    section: (name, title, write) => {
      mark('start', name);
      line(runnerCyan(title));
      write();
      mark('end', name);
    },
    pass: (ms) => {
      atMs += ms;
    },
    time: () => new Date(atMs).toISOString(),
    text: () => `${lines.join('\n')}\n`,
  };
}
