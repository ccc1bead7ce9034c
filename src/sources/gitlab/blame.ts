import { z } from 'zod';
import { wireCommit } from './commits.ts';
import { defineProjectTool } from './project-tool.ts';
import { ref, repositoryPath, toRef } from './repository-args.ts';
import type { Scope } from './scope.ts';
import { fromWireList } from './wire.ts';

const MAX_LINES = 500;

export function createGetBlame(pinned: Scope) {
  return defineProjectTool(pinned, {
    name: 'gitlab_get_blame',
    description: `Which commit last changed each line of a range of a file, at most ${MAX_LINES} lines: who, when, and why (title), beside the lines themselves with their numbers.`,
    schema: z
      .strictObject({
        path: repositoryPath.describe('As in the repository: src/app.ts'),
        first_line: z.int().min(1),
        last_line: z.int().min(1),
        ref,
      })
      .refine(({ first_line, last_line }) => first_line <= last_line, 'last_line is before first_line')
      .refine(
        ({ first_line, last_line }) => last_line - first_line < MAX_LINES,
        `too many lines, ask for ${MAX_LINES} at most`,
      ),
    async read({ path, first_line, last_line, ref: wanted }, scope, signal) {
      const at = toRef(scope, wanted);
      const { api } = scope.client.withSignal(signal);
      const range = { start: first_line, end: last_line };
      const answer = await api.RepositoryFiles.allFileBlames(scope.projectId, path, at, { range });
      const parts = fromWireList(wirePart, `the blame of ${path}`, answer);
      return { kind: 'json', value: { path, ref: at, parts: fromParts(parts, first_line) } };
    },
  });
}

const wirePart = z.object({ commit: wireCommit, lines: z.array(z.string()) });

/** GitLab gives no numbers; the parts follow each other without a gap. */
function fromParts(parts: readonly z.infer<typeof wirePart>[], firstLine: number) {
  let next = firstLine;
  return parts.map(({ commit, lines }) => {
    const start = next;
    next += lines.length;
    return {
      lines: lines.map((line, index) => `${start + index}: ${line}`),
      sha: commit.id,
      title: commit.title ?? (commit.message ?? '').split('\n', 1).join(''),
      author: commit.author_name ?? null,
      committed: commit.committed_date ?? null,
    };
  });
}
