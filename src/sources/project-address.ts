// Which addresses of git repositories mean a project: those who build and test it write them down in many forms.

export interface ProjectPlace {
  project: { path: string };
  /** Where that project is: the same path on another host is another project. */
  gitlabUrl: string;
  /** Further names of that host. */
  otherHosts?: readonly string[] | undefined;
}

/** The whole path counts: a fork or another host may have a project that ends alike. */
export function isProjectAddress(
  address: string,
  { project, gitlabUrl, otherHosts = [] }: ProjectPlace,
): boolean {
  const found = parseRepository(address);
  const gitlab = new URL(gitlabUrl);
  // GitLab may live below a path of its host.
  const own = `${gitlab.pathname.replace(/\/$/, '')}/${project.path}`.toLowerCase();
  // Not the port: clones over SSH have another one.
  return found !== null && found.path === own && [gitlab.hostname, ...otherHosts].includes(found.host);
}

/** Null for what is no address; `git@host:group/app.git` is one. */
export function parseRepository(address: string): { host: string; path: string } | null {
  const url = URL.parse(address.replace(/^(?:[\w.-]+@)?([\w.-]+):(?!\/|\d+\/)/, 'ssh://$1/'));
  if (!url?.hostname) return null;
  return {
    host: url.hostname.toLowerCase(),
    path: url.pathname.toLowerCase().replace(/(?:\.git)?\/?$/, ''),
  };
}
