import { z } from 'zod';
import { NotFoundError } from '../../errors.ts';
import { toDiffText, type WireFile, wireFile } from './diff-text.ts';
import { readMovedNote } from './head-moved.ts';
import { PAGING, readList, toCutNote, type WireList } from './read-list.ts';
import { defineTool, type Scope } from './scope.ts';

/** Of one file, when all are asked for: a lock file must not bury the change. */
const MAX_FILE_CHARACTERS = 20_000;
const MAX_NAMED_PATHS = 20;

export function createGetMrDiff(scope: Scope) {
  const { client, projectId, mrIid } = scope;
  return defineTool({
    name: 'gitlab_get_mr_diff',
    description:
      'What the merge request changes, as a unified diff of all its files. Files with large diffs are cut and say so; with path you get the whole diff of that one file.',
    schema: z.strictObject({
      path: z.string().min(1).optional().describe('Only this file, by its old or new path'),
    }),
    async read({ path }, signal) {
      const wanted = { schema: wireFile, what: 'the changes' };
      const [list, moved] = await Promise.all([
        readList(client, (api) => api.MergeRequests.allDiffs(projectId, mrIid, PAGING), wanted, signal),
        readMovedNote(scope, signal),
      ]);
      const { items: files } = list;
      const { note } = toCutNote(list, 'changed files');
      const text =
        path === undefined
          ? files.map((file) => toDiffText(file, { maxCharacters: MAX_FILE_CHARACTERS, toAdvice })).join('')
          : toDiffText(findFile(list, path), { maxCharacters: Number.POSITIVE_INFINITY, toAdvice });
      const toLine = (words: string | undefined) => (words === undefined ? '' : `[${words}]\n`);
      return { kind: 'text', of: 'diff', body: `${toLine(moved)}${text}${toLine(note)}` };
    },
  });
}

function findFile({ items: files, isCut }: WireList<WireFile>, path: string): WireFile {
  const found = files.find((file) => file.new_path === path || file.old_path === path);
  if (found) return found;
  const paths = files.slice(0, MAX_NAMED_PATHS).map((file) => file.new_path);
  const more = files.length > paths.length ? ', …' : '';
  const which = isCut
    ? `first ${files.length} changed files, and more were not read`
    : `${files.length} changed files`;
  throw new NotFoundError(`${path} is not among the ${which}: ${paths.join(', ')}${more}`);
}

function toAdvice(path: string): string {
  return `call gitlab_get_mr_diff with path ${JSON.stringify(path)} for all of it`;
}
