import { createHash } from 'node:crypto';
import type { Commit, Diff, Project, StoredFile } from '../model.ts';
import type { World } from '../state.ts';
import { commitBySha, findCommit, projectById } from './find.ts';

export type NewDiff = { path: string; oldPath?: string; diff: string; change?: Diff['change'] };

export type NewCommit = {
  message?: string;
  authorName?: string;
  authorEmail?: string;
  diffs?: readonly NewDiff[];
};

/** A commit that the given projects can see. It is on no branch until the caller says so. */
export function addCommit(
  world: World,
  projects: readonly Project[],
  input: NewCommit & { parent?: string },
): Commit {
  const commit: Commit = {
    sha: createHash('sha1')
      .update(`commit ${world.nextId('commit')}`)
      .digest('hex'),
    projectIds: projects.map((project) => project.id),
    parents: input.parent === undefined ? [] : [input.parent],
    message: input.message ?? 'Change something',
    authorName: input.authorName ?? 'Somebody',
    authorEmail: input.authorEmail ?? 'somebody@gitlab.test',
    createdAt: world.now(),
    diffs: (input.diffs ?? []).map((diff) => ({
      oldPath: diff.oldPath ?? diff.path,
      newPath: diff.path,
      diff: diff.diff,
      change: diff.change ?? 'modified',
    })),
  };
  world.commits.set(commit.sha, commit);
  return commit;
}

export type NewFile = Omit<StoredFile, 'content'> & { content: string | Buffer };

export function addFile(world: World, input: NewFile): StoredFile {
  projectById(world, input.projectId);
  const file: StoredFile = { ...input, content: Buffer.from(input.content) };
  world.files.push(file);
  return file;
}

/** The file as it is at a ref: as stored for that ref, else as the default branch has it. */
export function findFile(world: World, project: Project, ref: string, path: string): StoredFile | undefined {
  const sha = findCommit(world, project, ref)?.sha;
  const atTip = [...project.branches].filter(([, tip]) => tip === sha).map(([branch]) => branch);
  const refs = [ref, sha, ...atTip, project.defaultBranch];
  const stored = world.files.filter((file) => file.projectId === project.id && file.path === path);
  for (const candidate of refs) {
    const found = stored.findLast((file) => file.ref === candidate);
    if (found) return found;
  }
  return undefined;
}

/** What `to` has and `from` has not, oldest first. */
export function commitsBetween(world: World, from: string, to: string): Commit[] {
  const known = new Set(lineage(world, from).map((commit) => commit.sha));
  return lineage(world, to)
    .filter((commit) => !known.has(commit.sha))
    .reverse();
}

/** The change of several commits together; a file changed twice appears once, as it was last. */
export function combineDiffs(commits: readonly Commit[]): Diff[] {
  const byPath = new Map<string, Diff>();
  for (const diff of commits.flatMap((commit) => commit.diffs)) byPath.set(diff.newPath, diff);
  return [...byPath.values()];
}

function lineage(world: World, sha: string): Commit[] {
  const found: Commit[] = [];
  for (let next: string | undefined = sha; next !== undefined; ) {
    const commit: Commit = commitBySha(world, next);
    found.push(commit);
    next = commit.parents[0];
  }
  return found;
}
