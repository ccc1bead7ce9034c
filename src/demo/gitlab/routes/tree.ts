import { createHash } from 'node:crypto';
import { ApiError, badRequest, notFound } from '../api-error.ts';
import type { Call, Router } from '../call.ts';
import { toCommit } from '../entities/commit.ts';
import type { Commit, StoredFile } from '../model.ts';
import { paginate, paginateByToken } from '../paging.ts';
import { commitBySha, findCommit } from '../world/find.ts';
import { findFile } from '../world/repository.ts';
import { filesAt, listTree, searchFiles, type TreeEntry } from '../world/tree.ts';

/** Looking around in the repository: folders, who wrote a line, and search. */
export function addTreeRoutes(router: Router): void {
  router.get('/projects/:id/repository/tree', (call) => {
    const ref = call.query('ref') ?? 'HEAD';
    commitAt(call, ref, 'Tree');
    const files = filesAt(call.world, call.project(), ref);
    const found = listTree(files, call.query('path') ?? '', { recursive: call.flag('recursive') });
    if (found === undefined) throw notFound('invalid revision or path');
    return paginateByToken(call, found.map(toEntry));
  });

  router.get('/projects/:id/repository/files/:path/blame', (call) => {
    const ref = call.query('ref');
    if (ref === undefined) throw new ApiError(400, { error: 'ref is missing' });
    const commit = commitAt(call, ref, 'Commit');
    const file = findFile(call.world, call.project(), ref, call.param('path'));
    if (file === undefined) throw notFound('File');
    return toBlame(call, file, commit);
  });

  router.get('/projects/:id/search', (call) => {
    if (call.requiredField('scope') !== 'blobs') {
      throw new ApiError(400, { error: 'scope does not have a valid value' });
    }
    const project = call.project();
    const ref = call.query('ref') ?? project.defaultBranch;
    const hits = searchFiles(filesAt(call.world, project, ref), call.requiredField('search'));
    return paginate(call, hits).map(({ path, firstLine, text }) => ({
      basename: path.replace(/\.[^./]*$/, ''),
      data: text,
      path,
      filename: path,
      id: null,
      ref,
      startline: firstLine,
      project_id: project.id,
    }));
  });
}

function commitAt(call: Call, ref: string, what: string): Commit {
  const commit = findCommit(call.world, call.project(), ref);
  if (commit === undefined) throw notFound(what);
  return commit;
}

function toEntry({ path, type }: TreeEntry) {
  return {
    id: createHash('sha1').update(`${type} ${path}`).digest('hex'),
    name: path.slice(path.lastIndexOf('/') + 1),
    type,
    path,
    mode: type === 'tree' ? '040000' : '100644',
  };
}

function toBlame(call: Call, file: StoredFile, newest: Commit) {
  const lines = file.content.toString().replace(/\n$/, '').split('\n');
  const { first, last } = rangeOf(call, lines.length);
  const shas = (file.blame ?? []).flatMap(({ sha, lines: count }) => Array<string>(count).fill(sha));
  const parts: { sha: string; lines: string[] }[] = [];
  for (const [index, line] of lines.entries()) {
    if (index + 1 < first || index + 1 > last) continue;
    const sha = shas[index] ?? newest.sha;
    const part = parts.at(-1);
    if (part?.sha === sha) part.lines.push(line);
    else parts.push({ sha, lines: [line] });
  }
  const project = call.project();
  return parts.map((part) => ({
    commit: toCommit(call.world, project, commitBySha(call.world, part.sha)),
    lines: part.lines,
  }));
}

function rangeOf(call: Call, count: number): { first: number; last: number } {
  const [start, end] = [call.query('range[start]'), call.query('range[end]')];
  if (start === undefined && end === undefined) return { first: 1, last: count };
  const first = Number(start);
  const last = Number(end);
  if (!(first >= 1 && last >= first))
    throw badRequest('range[end] must be greater than or equal to range[start]');
  return { first, last };
}
