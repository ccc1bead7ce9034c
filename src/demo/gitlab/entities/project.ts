import { projectLink } from '../links.ts';
import type { Project } from '../model.ts';
import type { World } from '../state.ts';

export function toProject(world: World, project: Project) {
  const web = projectLink(world, project);
  const api = `${world.url}/api/v4/projects/${project.id}`;
  const namespace = project.path.slice(0, project.path.lastIndexOf('/'));
  return {
    id: project.id,
    name: project.name,
    name_with_namespace: project.path.split('/').join(' / '),
    path: project.name,
    path_with_namespace: project.path,
    description: project.description,
    created_at: project.createdAt.toISOString(),
    last_activity_at: project.createdAt.toISOString(),
    default_branch: project.defaultBranch,
    visibility: project.visibility,
    archived: false,
    empty_repo: false,
    ssh_url_to_repo: `git@${new URL(world.url).hostname}:${project.path}.git`,
    http_url_to_repo: `${web}.git`,
    web_url: web,
    readme_url: null,
    avatar_url: null,
    tag_list: [],
    topics: [],
    forks_count: 0,
    star_count: 0,
    open_issues_count: 0,
    namespace: {
      id: 1,
      name: namespace.split('/').at(-1),
      path: namespace.split('/').at(-1),
      kind: 'group',
      full_path: namespace,
      parent_id: null,
      avatar_url: null,
      web_url: `${world.url}/groups/${namespace}`,
    },
    _links: { self: api, merge_requests: `${api}/merge_requests`, members: `${api}/members` },
    issues_enabled: true,
    merge_requests_enabled: true,
    jobs_enabled: true,
    builds_access_level: 'enabled',
    public_jobs: project.publicJobs,
    merge_method: 'merge',
    only_allow_merge_if_pipeline_succeeds: false,
  };
}
