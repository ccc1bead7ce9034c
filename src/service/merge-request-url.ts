import { PermanentError } from '../errors.ts';

export interface MergeRequestAddress {
  projectPath: string;
  iid: number;
}

/** Reads `https://gitlab.example.com/group/app/-/merge_requests/7`, which must be on the configured GitLab. */
export function parseMergeRequestUrl(text: string, gitlabUrl: string): MergeRequestAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  const base = new URL(gitlabUrl);
  if (!url) throw new PermanentError(`'${text}' is not a URL; give the address of a merge request`);
  if (url.origin !== base.origin)
    throw new PermanentError(
      `${url.origin} is not the configured GitLab (${base.origin}); set gitlab.url in the configuration`,
    );
  const root = base.pathname.replace(/\/+$/, '');
  const path = url.pathname.startsWith(`${root}/`) ? url.pathname.slice(root.length) : url.pathname;
  const [, projectPath, iid] =
    /^\/([^-/][^/]*(?:\/[^/]+)+?)\/(?:-\/)?merge_requests\/(\d+)(?:\/|$)/.exec(path) ?? [];
  if (!projectPath || !iid)
    throw new PermanentError(
      `'${text}' is not a merge request; it should look like …/group/app/-/merge_requests/7`,
    );
  return { projectPath: decodeURIComponent(projectPath), iid: Number(iid) };
}
