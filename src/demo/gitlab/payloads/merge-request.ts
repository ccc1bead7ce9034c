import { mergeRequestLink } from '../links.ts';
import { isDraft, mergeStatusOf } from '../merge-status.ts';
import type { MergeRequest } from '../model.ts';
import type { World } from '../state.ts';
import { commitBySha, headPipelineOf, headShaOf, projectById, userById } from '../world/find.ts';
import { type Part, toHookCommit, toHookProject, toHookRepository, toHookTime, toHookUser } from './parts.ts';

export type Happening = {
  action: 'open' | 'update' | 'close' | 'reopen' | 'merge';
  userId: number;
  /** The head before a push. */
  oldrev?: string;
  before?: Pick<MergeRequest, 'title' | 'labels'>;
};

export function toMergeRequestHook(world: World, mergeRequest: MergeRequest, happening: Happening): Part {
  const project = projectById(world, mergeRequest.projectId);
  const push = happening.oldrev === undefined ? {} : { oldrev: happening.oldrev };
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: toHookUser(world, userById(world, happening.userId)),
    project: toHookProject(world, project),
    object_attributes: {
      ...toHookMergeRequest(world, mergeRequest),
      action: happening.action,
      ...push,
    },
    labels: toHookLabels(mergeRequest, mergeRequest.labels),
    changes: toChanges(mergeRequest, happening),
    repository: toHookRepository(world, project),
    ...toHookAssignees(world, mergeRequest),
  };
}

/** The merge request as it stands inside a payload: of its own, of a note's or of an emoji's hook. */
export function toHookMergeRequest(world: World, mergeRequest: MergeRequest): Part {
  const source = projectById(world, mergeRequest.sourceProjectId);
  const target = projectById(world, mergeRequest.projectId);
  const draft = isDraft(mergeRequest);
  return {
    id: mergeRequest.id,
    iid: mergeRequest.iid,
    title: mergeRequest.title,
    description: mergeRequest.description,
    state: mergeRequest.state,
    state_id: { opened: 1, closed: 2, merged: 3 }[mergeRequest.state],
    author_id: mergeRequest.authorId,
    assignee_ids: mergeRequest.assigneeIds,
    assignee_id: mergeRequest.assigneeIds[0] ?? null,
    reviewer_ids: [],
    source_branch: mergeRequest.sourceBranch,
    source_project_id: mergeRequest.sourceProjectId,
    target_branch: mergeRequest.targetBranch,
    target_project_id: mergeRequest.projectId,
    created_at: toHookTime(mergeRequest.createdAt),
    updated_at: toHookTime(mergeRequest.updatedAt),
    last_edited_at: null,
    last_edited_by_id: null,
    milestone_id: null,
    head_pipeline_id: headPipelineOf(world, mergeRequest)?.id ?? null,
    merge_status: 'can_be_merged',
    detailed_merge_status: mergeStatusOf(mergeRequest),
    merge_commit_sha: mergeRequest.mergeCommitSha,
    blocking_discussions_resolved: true,
    work_in_progress: draft,
    draft,
    first_contribution: false,
    url: mergeRequestLink(world, mergeRequest),
    source: toHookProject(world, source),
    target: toHookProject(world, target),
    last_commit: toHookCommit(world, source, commitBySha(world, headShaOf(mergeRequest))),
    labels: toHookLabels(mergeRequest, mergeRequest.labels),
  };
}

function toHookAssignees(world: World, mergeRequest: MergeRequest): Part {
  if (mergeRequest.assigneeIds.length === 0) return {};
  return { assignees: mergeRequest.assigneeIds.map((id) => toHookUser(world, userById(world, id))) };
}

function toHookLabels(mergeRequest: MergeRequest, labels: readonly string[]): Part[] {
  const time = toHookTime(mergeRequest.createdAt);
  return labels.map((title, index) => ({
    id: index + 1,
    title,
    color: '#428bca',
    project_id: mergeRequest.projectId,
    created_at: time,
    updated_at: time,
    template: false,
    description: null,
    type: 'ProjectLabel',
    group_id: null,
  }));
}

function toChanges(mergeRequest: MergeRequest, { before }: Happening): Part {
  if (before === undefined) return {};
  const changes: { title?: Part; labels?: Part } = {};
  if (before.title !== mergeRequest.title) {
    changes.title = { previous: before.title, current: mergeRequest.title };
  }
  if (before.labels !== mergeRequest.labels) {
    changes.labels = {
      previous: toHookLabels(mergeRequest, before.labels),
      current: toHookLabels(mergeRequest, mergeRequest.labels),
    };
  }
  return changes;
}
