import type { ProjectRef } from '../queue/job.ts';
import type { Audience, Visibility } from '../sources/gitlab/audience.ts';

export interface PlaceDependencies {
  audience: Audience;
  /** Whether the configuration lets the agent work for this project. */
  isAllowed: (project: ProjectRef) => boolean;
  /** Quote logs where more people see the merge request than they. */
  quotesMembersOnlyLogs: boolean;
}

export type Place = { project: ProjectRef; visibility: Visibility } | { refusal: string };

/** Where the work is done and who looks on, by GitLab's own word: an event says what its sender likes. */
export async function readPlace(
  { audience, isAllowed, quotesMembersOnlyLogs }: PlaceDependencies,
  { projectId }: { projectId: number },
  signal: AbortSignal,
): Promise<Place> {
  const { path, visibility, logsAreForMembers } = await audience.ofProject(projectId, signal);
  const project = { id: projectId, path };
  if (!isAllowed(project)) return { refusal: `project ${path} is not among those of the configuration` };
  if (logsAreForMembers && !quotesMembersOnlyLogs)
    return { refusal: 'the logs are for members only, and a note would show them to others' };
  return { project, visibility };
}
