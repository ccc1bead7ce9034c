import { commitLink } from '../links.ts';
import type { Commit, Diff, Project } from '../model.ts';
import type { World } from '../state.ts';

export function toCommit(world: World, project: Project, commit: Commit) {
  const at = commit.createdAt.toISOString();
  return {
    id: commit.sha,
    short_id: commit.sha.slice(0, 8),
    parent_ids: commit.parents,
    title: commit.message.split('\n', 1)[0],
    message: commit.message,
    author_name: commit.authorName,
    author_email: commit.authorEmail,
    authored_date: at,
    committer_name: commit.authorName,
    committer_email: commit.authorEmail,
    committed_date: at,
    created_at: at,
    trailers: {},
    extended_trailers: {},
    web_url: commitLink(world, project, commit.sha),
  };
}

/** With what only the single commit tells: its size and its newest pipeline. */
export function toCommitDetail(world: World, project: Project, commit: Commit) {
  const pipeline = [...world.pipelines.values()].findLast(
    (one) => one.projectId === project.id && one.sha === commit.sha,
  );
  const additions = countLines(commit.diffs, /^\+/gm);
  const deletions = countLines(commit.diffs, /^-/gm);
  return {
    ...toCommit(world, project, commit),
    stats: { additions, deletions, total: additions + deletions },
    status: pipeline?.status ?? null,
    project_id: project.id,
    last_pipeline: pipeline
      ? { id: pipeline.id, ref: pipeline.ref, sha: pipeline.sha, status: pipeline.status }
      : null,
  };
}

export function toDiff(diff: Diff) {
  return {
    old_path: diff.oldPath,
    new_path: diff.newPath,
    a_mode: diff.change === 'new' ? '0' : '100644',
    b_mode: diff.change === 'deleted' ? '0' : '100644',
    diff: diff.diff,
    collapsed: false,
    too_large: false,
    new_file: diff.change === 'new',
    renamed_file: diff.change === 'renamed',
    deleted_file: diff.change === 'deleted',
    generated_file: false,
  };
}

function countLines(diffs: readonly Diff[], pattern: RegExp): number {
  return diffs.reduce((sum, { diff }) => sum + (diff.match(pattern)?.length ?? 0), 0);
}
