import { avatarLink } from '../links.ts';
import type { Commit, MergeRequest } from '../model.ts';
import type { World } from '../state.ts';
import { projectById, userById } from '../world/find.ts';
import { type Part, toHookCommit, toHookProject, toHookRepository } from './parts.ts';

/** One commit pushed to the merge request's branch. */
export function toPushHook(
  world: World,
  mergeRequest: MergeRequest,
  push: { userId: number; before: string; commit: Commit },
): Part {
  const project = projectById(world, mergeRequest.sourceProjectId);
  const user = userById(world, push.userId);
  const paths = (change: Commit['diffs'][number]['change']) =>
    push.commit.diffs.filter((diff) => diff.change === change).map((diff) => diff.newPath);
  return {
    object_kind: 'push',
    event_name: 'push',
    before: push.before,
    after: push.commit.sha,
    ref: `refs/heads/${mergeRequest.sourceBranch}`,
    ref_protected: false,
    checkout_sha: push.commit.sha,
    user_id: user.id,
    user_name: user.name,
    user_username: user.username,
    user_email: null,
    user_avatar: avatarLink(world, user),
    project_id: project.id,
    project: toHookProject(world, project),
    repository: toHookRepository(world, project),
    commits: [
      {
        ...toHookCommit(world, project, push.commit),
        added: paths('new'),
        modified: [...paths('modified'), ...paths('renamed')],
        removed: paths('deleted'),
      },
    ],
    total_commits_count: 1,
  };
}
