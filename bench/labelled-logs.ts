// Logs whose telling lines are marked: a folder with labels.jsonl, {"id", "group", "log", "pass"?, "occ": [[line, …], …]}.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cleanLine } from '../src/evidence/clean-line.ts';

export interface LabelledLog {
  id: string;
  group: string;
  /** The folder it is from. */
  set: string;
  bytes: Buffer;
  lines: string[];
  /** A log of the same job that passed. */
  pass: Buffer | null;
  /** Lines that explain the failure, in each place where they stand. */
  occ: number[][];
}

export function readLabelledLogs(folder: string): LabelledLog[] {
  const find = (path: string): string =>
    [join(folder, path), join(dirname(folder), path)].find(existsSync) ?? join(folder, path);
  return readFileSync(join(folder, 'labels.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((text) => {
      const { id, group, log, pass, occ } = JSON.parse(text);
      const bytes = readFileSync(find(log));
      const lines = bytes.toString().split('\n').map(cleanLine);
      return {
        id,
        group,
        set: basename(folder),
        bytes,
        lines,
        occ,
        pass: pass ? readFileSync(find(pass)) : null,
      };
    });
}

/** Of the lines marked in the place that is shown best: how many are shown, and whether the first is. */
export function scoreShown({ occ, lines }: LabelledLog, shown: ReadonlySet<number>) {
  const each = occ.map((numbers) => {
    const told = numbers.filter((number) => lines[number - 1]?.trim());
    return {
      share: told.filter((number) => shown.has(number)).length / told.length,
      first: shown.has(told[0] ?? 0) ? 1 : 0,
    };
  });
  return each.reduce((a, b) => (b.share > a.share ? b : a));
}

export function toNumbers(ranges: readonly (readonly [from: number, to: number])[]): Set<number> {
  return new Set(ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => from + at)));
}
