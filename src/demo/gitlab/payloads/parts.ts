// The pieces that several hook payloads share.
import { avatarLink, commitLink, projectLink } from '../links.ts';
import type { Commit, Job, Project, User } from '../model.ts';
import type { World } from '../state.ts';

export type Part = Record<string, unknown>;

export function toHookTime(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export function toHookTimeOrNull(date: Date | null): string | null {
  return date === null ? null : toHookTime(date);
}

export function toHookUser(world: World, user: User): Part {
  return {
    id: user.id,
    name: user.name,
    username: user.username,
    avatar_url: avatarLink(world, user),
    // Users have no public address here, and GitLab shows no other.
    email: '[REDACTED]',
  };
}

export function toHookProject(world: World, project: Project): Part {
  const web = projectLink(world, project);
  const ssh = `git@${new URL(world.url).hostname}:${project.path}.git`;
  return {
    id: project.id,
    name: project.name,
    description: project.description,
    web_url: web,
    avatar_url: null,
    git_ssh_url: ssh,
    git_http_url: `${web}.git`,
    namespace: project.path.split('/').at(-2) ?? '',
    visibility_level: { private: 0, internal: 10, public: 20 }[project.visibility],
    path_with_namespace: project.path,
    default_branch: project.defaultBranch,
    ci_config_path: null,
    homepage: web,
    url: ssh,
    ssh_url: ssh,
    http_url: `${web}.git`,
  };
}

/** The old, shorter form of the project that most payloads still carry. */
export function toHookRepository(world: World, project: Project): Part {
  const web = projectLink(world, project);
  return { name: project.name, url: `${web}.git`, description: project.description, homepage: web };
}

export function toHookCommit(world: World, project: Project, commit: Commit): Part {
  return {
    id: commit.sha,
    message: commit.message,
    title: commit.message.split('\n', 1)[0],
    timestamp: commit.createdAt.toISOString(),
    url: commitLink(world, project, commit.sha),
    author: { name: commit.authorName, email: commit.authorEmail },
  };
}

export function toHookRunner(job: Job): Part | null {
  if (job.startedAt === null) return null;
  return {
    id: 1,
    description: 'shared-runner-1',
    runner_type: 'instance_type',
    active: true,
    is_shared: true,
    tags: ['linux', 'docker'],
  };
}
