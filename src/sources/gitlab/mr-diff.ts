import { z } from 'zod';
import { PermanentError } from '../../errors.ts';
import { defineTool, type Scope } from './scope.ts';
import { fromWireList, PAGING, toCutNote } from './wire.ts';

/** Of one file, when all are asked for: a lock file must not bury the change. */
const MAX_FILE_CHARACTERS = 20_000;
const MAX_NAMED_PATHS = 100;

export function createGetMrDiff({ client, projectId, mrIid }: Scope) {
  return defineTool({
    name: 'gitlab_get_mr_diff',
    description:
      'What the merge request changes, as a unified diff of all its files. Files with large diffs are cut and say so; with path you get the whole diff of that one file.',
    schema: z.strictObject({
      path: z.string().min(1).optional().describe('Only this file, by its old or new path'),
    }),
    async read({ path }, signal) {
      const { api } = client.withSignal(signal);
      const answer = await api.MergeRequests.allDiffs(projectId, mrIid, PAGING);
      const files = fromWireList(wireFile, 'the changes', answer);
      const { note } = toCutNote(files, 'changed files');
      const text =
        path === undefined
          ? files.map((file) => fromFile(file, MAX_FILE_CHARACTERS)).join('')
          : fromFile(findFile(files, path), Number.POSITIVE_INFINITY);
      return { kind: 'text', of: 'diff', body: note === undefined ? text : `${text}[${note}]\n` };
    },
  });
}

const wireFile = z.object({
  old_path: z.string(),
  new_path: z.string(),
  diff: z.string().nullish(),
  new_file: z.boolean(),
  renamed_file: z.boolean(),
  deleted_file: z.boolean(),
  collapsed: z.boolean().nullish(),
  too_large: z.boolean().nullish(),
});

type WireFile = z.infer<typeof wireFile>;

function findFile(files: readonly WireFile[], path: string): WireFile {
  const found = files.find((file) => file.new_path === path || file.old_path === path);
  if (found) return found;
  const paths = files.slice(0, MAX_NAMED_PATHS).map((file) => file.new_path);
  throw new PermanentError(`${path} is not among the ${files.length} changed files: ${paths.join(', ')}`);
}

function fromFile(file: WireFile, maxCharacters: number): string {
  return [...headOf(file), bodyOf(file, maxCharacters), ''].join('\n');
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

function bodyOf({ diff, new_path, too_large, collapsed }: WireFile, maxCharacters: number): string {
  const lines = (diff ?? '').replace(/\n$/, '');
  if (lines === '') {
    return too_large || collapsed
      ? '[GitLab gives no diff of this file: it is too large]'
      : '[no lines changed, or a binary file]';
  }
  if (lines.length <= maxCharacters) return lines;
  const lastLine = lines.lastIndexOf('\n', maxCharacters);
  // A minified file is one line.
  const kept = lines.slice(0, lastLine > 0 ? lastLine : maxCharacters);
  const leftOut = lines.length - kept.length;
  return `${kept}\n[… ${leftOut} more characters of this file are left out; call gitlab_get_mr_diff with path ${JSON.stringify(new_path)} for all of it]`;
}
