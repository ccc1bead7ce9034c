// Looking things up. `…ById` is for ids that must exist: a wrong one is a mistake in the arranging code.
import type {
  Award,
  AwardTarget,
  Commit,
  Job,
  MergeRequest,
  MergeRequestRef,
  Note,
  Pipeline,
  Project,
  User,
} from '../model.ts';
import type { World } from '../state.ts';

export function userById(world: World, id: number): User {
  return must(world.users.get(id), 'user', id);
}

export function projectById(world: World, id: number): Project {
  return must(world.projects.get(id), 'project', id);
}

export function mergeRequestById(world: World, id: number): MergeRequest {
  return must(world.mergeRequests.get(id), 'merge request', id);
}

export function mergeRequestByRef(world: World, ref: MergeRequestRef): MergeRequest {
  const found = findMergeRequest(world, ref.projectId, ref.iid);
  return must(found, 'merge request', `!${ref.iid} of project ${ref.projectId}`);
}

export function noteById(world: World, id: number): Note {
  return must(world.notes.get(id), 'note', id);
}

export function pipelineById(world: World, id: number): Pipeline {
  return must(world.pipelines.get(id), 'pipeline', id);
}

export function jobById(world: World, id: number): Job {
  return must(world.jobs.get(id), 'job', id);
}

export function commitBySha(world: World, sha: string): Commit {
  return must(world.commits.get(sha), 'commit', sha);
}

export function findProject(world: World, idOrPath: string): Project | undefined {
  if (/^\d+$/.test(idOrPath)) return world.projects.get(Number(idOrPath));
  return [...world.projects.values()].find((project) => project.path === idOrPath);
}

export function findMergeRequest(world: World, projectId: number, iid: number): MergeRequest | undefined {
  return [...world.mergeRequests.values()].find((one) => one.projectId === projectId && one.iid === iid);
}

/** A commit by sha, by the beginning of its sha, or by the branch or merge request that it is the head of. */
export function findCommit(world: World, project: Project, ref: string): Commit | undefined {
  const named = ref === 'HEAD' ? project.defaultBranch : ref.replace(/^refs\/heads\//, '');
  const iid = /^refs\/merge-requests\/(\d+)\/head$/.exec(ref)?.[1];
  const mergeRequest = iid === undefined ? undefined : findMergeRequest(world, project.id, Number(iid));
  const sha = mergeRequest ? headShaOf(mergeRequest) : (project.branches.get(named) ?? named);
  const exact = world.commits.get(sha);
  if (exact?.projectIds.includes(project.id)) return exact;
  if (!/^[0-9a-f]{7,39}$/.test(ref)) return undefined;
  return [...world.commits.values()].find(
    (one) => one.sha.startsWith(ref) && one.projectIds.includes(project.id),
  );
}

export function headShaOf(mergeRequest: MergeRequest): string {
  return mergeRequest.commits.at(-1) ?? mergeRequest.baseSha;
}

export function notesOf(world: World, mergeRequest: MergeRequest): Note[] {
  return [...world.notes.values()].filter((note) => note.mergeRequestId === mergeRequest.id);
}

export function awardsOn(world: World, target: AwardTarget): Award[] {
  return [...world.awards.values()].filter(
    (award) => award.target.kind === target.kind && award.target.id === target.id,
  );
}

export function jobsOf(world: World, pipeline: Pipeline): Job[] {
  return [...world.jobs.values()].filter((job) => job.pipelineId === pipeline.id);
}

/** Newest first: what runs for the merge request itself and what runs for a commit on its branch. */
export function pipelinesOf(world: World, mergeRequest: MergeRequest): Pipeline[] {
  return [...world.pipelines.values()]
    .filter((one) => one.mergeRequestId === mergeRequest.id || runsOnBranchOf(one, mergeRequest))
    .reverse();
}

/** The newest pipeline for the commit that the merge request is at now. */
export function headPipelineOf(world: World, mergeRequest: MergeRequest): Pipeline | undefined {
  return pipelinesOf(world, mergeRequest).find((one) => one.headSha === headShaOf(mergeRequest));
}

function runsOnBranchOf(pipeline: Pipeline, mergeRequest: MergeRequest): boolean {
  return (
    pipeline.projectId === mergeRequest.sourceProjectId &&
    pipeline.ref === mergeRequest.sourceBranch &&
    mergeRequest.commits.includes(pipeline.sha)
  );
}

function must<T>(found: T | undefined, what: string, id: number | string): T {
  if (found === undefined) throw new Error(`The pretend GitLab has no ${what} ${id}; add it first.`);
  return found;
}
