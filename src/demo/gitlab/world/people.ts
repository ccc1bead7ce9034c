import { randomBytes } from 'node:crypto';
import type { AccessLevel, Project, Scope, User } from '../model.ts';
import type { World } from '../state.ts';
import { projectById, userById } from './find.ts';
import { addCommit } from './repository.ts';

export type NewUser = { username: string; name?: string; email?: string; bot?: boolean };

export function addUser(world: World, input: NewUser): User {
  const user: User = {
    id: world.nextId('user'),
    username: input.username,
    name: input.name ?? input.username,
    email: input.email ?? `${input.username}@gitlab.test`,
    bot: input.bot ?? false,
    state: 'active',
    createdAt: world.now(),
  };
  world.users.set(user.id, user);
  return user;
}

export type NewToken = { userId: number; scopes: readonly Scope[]; expiresAt?: Date };

export function addToken(world: World, input: NewToken): string {
  userById(world, input.userId);
  const token = `glpat-${randomBytes(15).toString('base64url')}`;
  world.tokens.set(token, {
    userId: input.userId,
    scopes: input.scopes,
    expiresAt: input.expiresAt ?? null,
    revoked: false,
  });
  return token;
}

export function revokeToken(world: World, token: string): void {
  const found = world.tokens.get(token);
  if (found) found.revoked = true;
}

export type NewProject = {
  /** With its namespace: `group/project`. */
  path: string;
  description?: string;
  defaultBranch?: string;
  visibility?: Project['visibility'];
  members?: readonly { userId: number; accessLevel: AccessLevel }[];
};

/** A project with one commit on its default branch. */
export function addProject(world: World, input: NewProject): Project {
  const project: Project = {
    id: world.nextId('project'),
    path: input.path,
    name: input.path.slice(input.path.lastIndexOf('/') + 1),
    description: input.description ?? '',
    defaultBranch: input.defaultBranch ?? 'main',
    visibility: input.visibility ?? 'private',
    publicJobs: true,
    members: new Map((input.members ?? []).map((member) => [member.userId, member.accessLevel])),
    branches: new Map(),
    createdAt: world.now(),
  };
  world.projects.set(project.id, project);
  const first = addCommit(world, [project], { message: 'Initial commit' });
  project.branches.set(project.defaultBranch, first.sha);
  return project;
}

/** `path` moves it to where that is. */
export function changeProject(
  world: World,
  projectId: number,
  change: Partial<Pick<Project, 'path' | 'visibility' | 'publicJobs'>>,
): void {
  Object.assign(projectById(world, projectId), change);
}

export function blockUser(world: World, userId: number): void {
  userById(world, userId).state = 'blocked';
}

export function removeMember(world: World, projectId: number, userId: number): void {
  projectById(world, projectId).members.delete(userId);
}

export function setMember(world: World, projectId: number, userId: number, accessLevel: AccessLevel): void {
  projectById(world, projectId).members.set(userById(world, userId).id, accessLevel);
}
