import type { Commit, MergeRequest, MergeRequestRef, Project } from '../model.ts';
import { type Happening, toMergeRequestHook } from '../payloads/merge-request.ts';
import { toPushHook } from '../payloads/push.ts';
import type { World } from '../state.ts';
import { commitBySha, headShaOf, mergeRequestByRef, projectById, userById } from './find.ts';
import { addCommit, type NewCommit } from './repository.ts';
import { addSystemNote } from './system-notes.ts';

export type NewMergeRequest = {
  projectId: number;
  authorId: number;
  title?: string;
  description?: string;
  sourceBranch: string;
  targetBranch?: string;
  /** Another project than `projectId` makes it a merge request from a fork. */
  sourceProjectId?: number;
  labels?: readonly string[];
  /** Oldest first; one empty commit unless told. */
  commits?: readonly NewCommit[];
};

export function addMergeRequest(world: World, input: NewMergeRequest): MergeRequest {
  const target = projectById(world, input.projectId);
  const source = projectById(world, input.sourceProjectId ?? input.projectId);
  userById(world, input.authorId);
  const at = world.now();
  const targetBranch = input.targetBranch ?? target.defaultBranch;
  const mergeRequest: MergeRequest = {
    id: world.nextId('mergeRequest'),
    iid: nextIid(world, target),
    projectId: target.id,
    sourceProjectId: source.id,
    title: input.title ?? `Merge ${input.sourceBranch}`,
    description: input.description ?? '',
    state: 'opened',
    authorId: input.authorId,
    sourceBranch: input.sourceBranch,
    targetBranch,
    baseSha: tipOf(target, targetBranch),
    commits: [],
    labels: [...(input.labels ?? [])],
    assigneeIds: [],
    discussionLocked: false,
    createdAt: at,
    updatedAt: at,
    mergedAt: null,
    mergedById: null,
    mergeCommitSha: null,
    closedAt: null,
    closedById: null,
  };
  for (const commit of input.commits ?? [{}]) appendCommit(world, mergeRequest, commit);
  world.mergeRequests.set(mergeRequest.id, mergeRequest);
  announce(world, mergeRequest, { action: 'open', userId: input.authorId });
  return mergeRequest;
}

export function pushCommit(
  world: World,
  ref: MergeRequestRef,
  input: NewCommit & { userId?: number } = {},
): Commit {
  const mergeRequest = mergeRequestByRef(world, ref);
  const userId = input.userId ?? mergeRequest.authorId;
  const oldrev = headShaOf(mergeRequest);
  const commit = appendCommit(world, mergeRequest, input);
  addSystemNote(world, mergeRequest, userId, `added 1 commit\n\n<ul><li>${commit.sha.slice(0, 8)}</li></ul>`);
  world.announce({
    projectId: mergeRequest.sourceProjectId,
    event: 'push_events',
    payload: toPushHook(world, mergeRequest, { userId, before: oldrev, commit }),
  });
  update(world, mergeRequest, { userId, oldrev });
  return commit;
}

export function closeMergeRequest(world: World, ref: MergeRequestRef, userId?: number): void {
  const mergeRequest = mergeRequestByRef(world, ref);
  if (mergeRequest.state !== 'opened') return;
  const by = userId ?? mergeRequest.authorId;
  mergeRequest.state = 'closed';
  mergeRequest.closedAt = world.now();
  mergeRequest.closedById = by;
  settle(world, mergeRequest, { action: 'close', userId: by, note: 'closed' });
}

export function reopenMergeRequest(world: World, ref: MergeRequestRef, userId?: number): void {
  const mergeRequest = mergeRequestByRef(world, ref);
  if (mergeRequest.state !== 'closed') return;
  mergeRequest.state = 'opened';
  mergeRequest.closedAt = null;
  mergeRequest.closedById = null;
  settle(world, mergeRequest, {
    action: 'reopen',
    userId: userId ?? mergeRequest.authorId,
    note: 'reopened',
  });
}

export function mergeMergeRequest(world: World, ref: MergeRequestRef, userId?: number): void {
  const mergeRequest = mergeRequestByRef(world, ref);
  if (mergeRequest.state !== 'opened') return;
  const by = userId ?? mergeRequest.authorId;
  const target = projectById(world, mergeRequest.projectId);
  const merge = addCommit(world, [target], {
    message: `Merge branch '${mergeRequest.sourceBranch}' into '${mergeRequest.targetBranch}'`,
    parent: headShaOf(mergeRequest),
  });
  target.branches.set(mergeRequest.targetBranch, merge.sha);
  mergeRequest.state = 'merged';
  mergeRequest.mergedAt = world.now();
  mergeRequest.mergedById = by;
  mergeRequest.mergeCommitSha = merge.sha;
  settle(world, mergeRequest, { action: 'merge', userId: by, note: 'merged' });
}

export type Edit = Partial<Pick<MergeRequest, 'title' | 'labels' | 'discussionLocked' | 'assigneeIds'>>;

/** Changes that are no push: GitLab's hook tells of them as an update without `oldrev`. */
export function editMergeRequest(world: World, ref: MergeRequestRef, edit: Edit, userId?: number): void {
  const mergeRequest = mergeRequestByRef(world, ref);
  const before = { title: mergeRequest.title, labels: mergeRequest.labels };
  Object.assign(mergeRequest, edit);
  update(world, mergeRequest, { userId: userId ?? mergeRequest.authorId, before });
}

function appendCommit(world: World, mergeRequest: MergeRequest, input: NewCommit): Commit {
  const source = projectById(world, mergeRequest.sourceProjectId);
  const target = projectById(world, mergeRequest.projectId);
  const author = userById(world, mergeRequest.authorId);
  const parent = commitBySha(world, headShaOf(mergeRequest)).sha;
  const commit = addCommit(world, source === target ? [target] : [source, target], {
    authorName: author.name,
    authorEmail: author.email,
    ...input,
    parent,
  });
  mergeRequest.commits.push(commit.sha);
  source.branches.set(mergeRequest.sourceBranch, commit.sha);
  return commit;
}

function update(world: World, mergeRequest: MergeRequest, happening: Omit<Happening, 'action'>): void {
  mergeRequest.updatedAt = world.now();
  announce(world, mergeRequest, { action: 'update', ...happening });
}

function settle(world: World, mergeRequest: MergeRequest, happening: Happening & { note: string }): void {
  addSystemNote(world, mergeRequest, happening.userId, happening.note);
  mergeRequest.updatedAt = world.now();
  announce(world, mergeRequest, happening);
}

function announce(world: World, mergeRequest: MergeRequest, happening: Happening): void {
  world.announce({
    projectId: mergeRequest.projectId,
    event: 'merge_requests_events',
    payload: toMergeRequestHook(world, mergeRequest, happening),
  });
}

function nextIid(world: World, project: Project): number {
  return [...world.mergeRequests.values()].filter((one) => one.projectId === project.id).length + 1;
}

function tipOf(project: Project, branch: string): string {
  const tip = project.branches.get(branch);
  if (tip === undefined) throw new Error(`Project ${project.path} has no branch ${branch} to merge into.`);
  return tip;
}
