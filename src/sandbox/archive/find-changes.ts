import type { FilesMark, LeftOutFile } from '../sandbox.ts';
import { type MeasuredEntry, type PlannedEntry, planArchive } from './plan-archive.ts';

/** With something that is another whenever the file is; folders have none. */
export type MarkedEntry = MeasuredEntry & { print: string };

export interface ChangePlan {
  mark: FilesMark;
  leftOut: LeftOutFile[];
  /** New or changed. */
  entries: PlannedEntry[];
  /** In the archives before, but not any more. */
  removed: string[];
}

export function markOf(measured: readonly MarkedEntry[]): FilesMark {
  return new Map(measured.map(({ path, print }) => [path, print]));
}

/** What has to be packed, and what to be told gone, so that all archives together hold what one of all would. */
export function planChanges(
  measured: readonly MarkedEntry[],
  maxBytes: number,
  since: FilesMark | null,
): ChangePlan {
  const { entries, leftOut } = planArchive(measured, maxBytes);
  const prints = markOf(measured);
  const mark = new Map(
    entries.map(({ path, text }) => [path, text === undefined ? (prints.get(path) ?? '') : `note ${text}`]),
  );
  return {
    mark,
    leftOut,
    entries: entries.filter(({ path }) => since?.get(path) !== mark.get(path)),
    removed: [...(since?.keys() ?? [])].filter((path) => !mark.has(path)),
  };
}
