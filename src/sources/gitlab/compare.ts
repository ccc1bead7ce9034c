import { z } from 'zod';
import { wireCommit } from './commits.ts';
import { toDiffText, wireFile } from './diff-text.ts';
import { defineProjectTool } from './project-tool.ts';
import { requiredRef } from './repository-args.ts';
import type { Scope } from './scope.ts';
import { fromWire } from './wire.ts';

const MAX_FILE_CHARACTERS = 20_000;
const MAX_COMMITS = 200;

export function createCompareRefs(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_compare_refs',
    description:
      'What came between two commits, branches or tags: the commits and the diff. Compare the commit of a passing job with that of the failing one, or the target branch then and now. path: only this file, whole.',
    schema: z.strictObject({
      from: requiredRef,
      to: requiredRef,
      path: z.string().min(1).optional().describe('Only this file or folder, by its old or new path'),
      straight: z
        .boolean()
        .optional()
        .describe('Compare the two states (from..to) instead of what happened since they parted (from...to)'),
    }),
    async read({ from, to, path, straight = false }, { client, projectId }, signal) {
      const { api } = client.withSignal(signal);
      const answer = await api.Repositories.compare(projectId, from, to, { straight });
      const compared = fromWire(wireComparison, `${from} and ${to}`, answer);
      return { kind: 'text', of: 'diff', body: toText(compared, path) };
    },
  });
}

const wireComparison = z.object({
  commits: z.array(wireCommit),
  diffs: z.array(wireFile),
  compare_timeout: z.boolean().nullish(),
  compare_same_ref: z.boolean().nullish(),
});

function toText({ commits, diffs, ...compared }: z.infer<typeof wireComparison>, path: string | undefined) {
  const isMeant = (one: string) => one === path || one.startsWith(`${path?.replace(/\/+$/, '')}/`);
  const files = diffs.filter(
    ({ old_path, new_path }) => path === undefined || isMeant(old_path) || isMeant(new_path),
  );
  const cut = {
    maxCharacters: path === undefined ? MAX_FILE_CHARACTERS : Number.POSITIVE_INFINITY,
    toAdvice,
  };
  return [
    ...(compared.compare_same_ref ? ['[both are the same commit]\n'] : []),
    ...(compared.compare_timeout ? ['[GitLab gave up before it had all: the diff is not whole]\n'] : []),
    `${commits.length} commits, newest last; ${files.length} of ${diffs.length} changed files:\n`,
    ...commits
      .slice(-MAX_COMMITS)
      .map(({ id, title, author_name }) => `${id.slice(0, 12)} ${title ?? ''} (${author_name ?? '?'})\n`),
    ...(commits.length > MAX_COMMITS
      ? [`[… ${commits.length - MAX_COMMITS} older ones are left out]\n`]
      : []),
    ...files.map((file) => toDiffText(file, cut)),
  ].join('');
}

function toAdvice(path: string): string {
  return `call gitlab_compare_refs with path ${JSON.stringify(path)} for all of it`;
}
