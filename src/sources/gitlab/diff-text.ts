// The changes of files, as GitLab's lists have them, written as git would.
import { z } from 'zod';
import { cutWords } from '../../cut-words.ts';

export const wireFile = z.object({
  old_path: z.string(),
  new_path: z.string(),
  diff: z.string().nullish(),
  new_file: z.boolean(),
  renamed_file: z.boolean(),
  deleted_file: z.boolean(),
  collapsed: z.boolean().nullish(),
  too_large: z.boolean().nullish(),
});

export type WireFile = z.infer<typeof wireFile>;

export interface CutOptions {
  maxCharacters: number;
  /** How to get all of a file, for the note where it was cut. */
  toAdvice: (path: string) => string;
}

export function toDiffText(file: WireFile, cut: CutOptions): string {
  return [...headOf(file), bodyOf(file, cut), ''].join('\n');
}

function headOf({ old_path, new_path, new_file, deleted_file, renamed_file }: WireFile): string[] {
  return [
    `diff --git a/${old_path} b/${new_path}`,
    ...(new_file ? ['new file'] : []),
    ...(deleted_file ? ['deleted file'] : []),
    ...(renamed_file ? [`rename from ${old_path}`, `rename to ${new_path}`] : []),
    `--- ${new_file ? '/dev/null' : `a/${old_path}`}`,
    `+++ ${deleted_file ? '/dev/null' : `b/${new_path}`}`,
  ];
}

function bodyOf({ diff, new_path, too_large, collapsed }: WireFile, cut: CutOptions): string {
  const { maxCharacters } = cut;
  const lines = (diff ?? '').replace(/\n$/, '');
  if (lines === '') {
    return too_large || collapsed
      ? '[GitLab gives no diff of this file: it is too large]'
      : '[no lines changed, or a binary file]';
  }
  if (lines.length <= maxCharacters) return lines;
  const lastLine = lines.lastIndexOf('\n', maxCharacters);
  // A minified file is one line.
  const kept = lastLine > 0 ? lines.slice(0, lastLine) : cutWords(lines, maxCharacters);
  const leftOut = lines.length - kept.length;
  return `${kept}\n[… ${leftOut} more characters of this file are left out; ${cut.toAdvice(new_path)}]`;
}
