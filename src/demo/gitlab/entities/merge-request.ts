import { mergeRequestLink } from '../links.ts';
import { isDraft, mergeStatusOf } from '../merge-status.ts';
import type { MergeRequest } from '../model.ts';
import type { World } from '../state.ts';
import { awardsOn, commitBySha, headPipelineOf, headShaOf, notesOf, projectById } from '../world/find.ts';
import { combineDiffs } from '../world/repository.ts';
import { toPipeline, toPipelineBasic } from './pipeline.ts';
import { toUserOrNull } from './user.ts';

/** As lists show it. */
export function toMergeRequestBasic(world: World, mergeRequest: MergeRequest) {
  const draft = isDraft(mergeRequest);
  const awards = awardsOn(world, { kind: 'merge-request', id: mergeRequest.id });
  const assignees = mergeRequest.assigneeIds.map((id) => toUserOrNull(world, id));
  return {
    id: mergeRequest.id,
    iid: mergeRequest.iid,
    project_id: mergeRequest.projectId,
    title: mergeRequest.title,
    description: mergeRequest.description,
    state: mergeRequest.state,
    created_at: mergeRequest.createdAt.toISOString(),
    updated_at: mergeRequest.updatedAt.toISOString(),
    merged_by: toUserOrNull(world, mergeRequest.mergedById),
    merge_user: toUserOrNull(world, mergeRequest.mergedById),
    merged_at: mergeRequest.mergedAt?.toISOString() ?? null,
    closed_by: toUserOrNull(world, mergeRequest.closedById),
    closed_at: mergeRequest.closedAt?.toISOString() ?? null,
    target_branch: mergeRequest.targetBranch,
    source_branch: mergeRequest.sourceBranch,
    user_notes_count: notesOf(world, mergeRequest).filter((note) => !note.system).length,
    upvotes: awards.filter((award) => award.name === 'thumbsup').length,
    downvotes: awards.filter((award) => award.name === 'thumbsdown').length,
    author: toUserOrNull(world, mergeRequest.authorId),
    assignees,
    assignee: assignees[0] ?? null,
    reviewers: [],
    source_project_id: mergeRequest.sourceProjectId,
    target_project_id: mergeRequest.projectId,
    labels: mergeRequest.labels.toSorted(),
    draft,
    work_in_progress: draft,
    milestone: null,
    merge_when_pipeline_succeeds: false,
    merge_status: 'can_be_merged',
    detailed_merge_status: mergeStatusOf(mergeRequest),
    sha: headShaOf(mergeRequest),
    merge_commit_sha: mergeRequest.mergeCommitSha,
    squash_commit_sha: null,
    discussion_locked: mergeRequest.discussionLocked ? true : null,
    should_remove_source_branch: null,
    force_remove_source_branch: false,
    reference: `!${mergeRequest.iid}`,
    references: toReferences(world, mergeRequest),
    web_url: mergeRequestLink(world, mergeRequest),
    time_stats: {
      time_estimate: 0,
      total_time_spent: 0,
      human_time_estimate: null,
      human_total_time_spent: null,
    },
    squash: false,
    task_completion_status: { count: 0, completed_count: 0 },
    has_conflicts: false,
    blocking_discussions_resolved: true,
  };
}

export function toMergeRequest(world: World, mergeRequest: MergeRequest) {
  const commits = mergeRequest.commits.map((sha) => commitBySha(world, sha));
  const head = headPipelineOf(world, mergeRequest);
  return {
    ...toMergeRequestBasic(world, mergeRequest),
    subscribed: false,
    changes_count: String(combineDiffs(commits).length),
    latest_build_started_at: head?.startedAt?.toISOString() ?? null,
    latest_build_finished_at: head?.finishedAt?.toISOString() ?? null,
    first_deployed_to_production_at: null,
    pipeline: head ? toPipelineBasic(world, head) : null,
    head_pipeline: head ? toPipeline(world, head) : null,
    diff_refs: {
      base_sha: mergeRequest.baseSha,
      head_sha: headShaOf(mergeRequest),
      start_sha: mergeRequest.baseSha,
    },
    merge_error: null,
    first_contribution: false,
    user: { can_merge: true },
  };
}

function toReferences(world: World, mergeRequest: MergeRequest) {
  const short = `!${mergeRequest.iid}`;
  return { short, relative: short, full: `${projectById(world, mergeRequest.projectId).path}${short}` };
}
