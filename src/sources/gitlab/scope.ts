import type { GitlabClient } from '../../gitlab/client.ts';

export { defineTool } from '../define-tool.ts';

/** What the job is about. It comes from the event, never from the model. */
export interface Scope {
  client: GitlabClient;
  projectId: number;
  mrIid: number;
  /** The commit it is about: the merge request's head when the job began. All its sources have the same. */
  sha: string;
  /** Which other projects the operator lets be read; left out: none. */
  mayRead?: ((project: { id: number; path: string }) => boolean) | undefined;
}
