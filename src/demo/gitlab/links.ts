// Where a person finds a thing in the browser.
import type { Job, MergeRequest, Note, Pipeline, Project, User } from './model.ts';
import type { World } from './state.ts';
import { mergeRequestById, projectById } from './world/find.ts';

export function userLink(world: World, user: User): string {
  return `${world.url}/${user.username}`;
}

export function avatarLink(world: World, user: User): string {
  return `${world.url}/uploads/-/system/user/avatar/${user.id}/avatar.png`;
}

export function projectLink(world: World, project: Project): string {
  return `${world.url}/${project.path}`;
}

export function commitLink(world: World, project: Project, sha: string): string {
  return `${projectLink(world, project)}/-/commit/${sha}`;
}

export function mergeRequestLink(world: World, mergeRequest: MergeRequest): string {
  return `${projectLink(world, projectById(world, mergeRequest.projectId))}/-/merge_requests/${mergeRequest.iid}`;
}

export function noteLink(world: World, note: Note): string {
  return `${mergeRequestLink(world, mergeRequestById(world, note.mergeRequestId))}#note_${note.id}`;
}

export function pipelineLink(world: World, pipeline: Pipeline): string {
  return `${projectLink(world, projectById(world, pipeline.projectId))}/-/pipelines/${pipeline.id}`;
}

export function jobLink(world: World, job: Job): string {
  return `${projectLink(world, projectById(world, job.projectId))}/-/jobs/${job.id}`;
}
