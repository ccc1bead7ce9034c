import { NotFoundError } from '../../errors.ts';
import type { GitlabClient } from '../../gitlab/client.ts';
import type { MergeRequest } from './merge-requests.ts';

/** Who reads what the agent writes and who may ask it, as GitLab says now; nothing is remembered. */
export interface Audience {
  ofProject(projectId: number, signal: AbortSignal): Promise<ProjectAudience>;
  getPerson(userId: number, signal: AbortSignal): Promise<Person>;
  /** A reason not to answer this person, in a sentence; null when they may ask. */
  findRefusal(asking: Asking, signal: AbortSignal): Promise<string | null>;
}

export type Visibility = 'private' | 'internal' | 'public';

export interface ProjectAudience {
  path: string;
  visibility: Visibility;
  /** More people see the merge request, and so the note, than may see the logs of its jobs. */
  logsAreForMembers: boolean;
}

export interface Person {
  isBot: boolean;
  isActive: boolean;
}

export interface Asking {
  mr: MergeRequest;
  userId: number;
  person: Person;
  visibility: Visibility;
}

export function createAudience(client: GitlabClient, { minAccess }: { minAccess: AccessName }): Audience {
  return {
    async ofProject(projectId, signal) {
      const wire = (await client.withSignal(signal).api.Projects.show(projectId)) as WireProject;
      const { path_with_namespace: path, visibility, builds_access_level, public_jobs } = wire;
      const isForMembers = builds_access_level === 'private' || public_jobs === false;
      return { path, visibility, logsAreForMembers: visibility !== 'private' && isForMembers };
    },

    async getPerson(userId, signal) {
      const user = await client.withSignal(signal).api.Users.show(userId);
      return { isBot: 'bot' in user && user.bot === true, isActive: user.state === 'active' };
    },

    async findRefusal({ mr, userId, person, visibility }, signal) {
      if (!person.isActive) return 'the account of who asks is not active';
      // Whoever may open a merge request there sees its pipelines too.
      if (mr.authorId === userId && visibility !== 'private') return null;
      const level = await readLevel(client.withSignal(signal), mr.projectId, userId);
      return level >= ACCESS[minAccess] ? null : `who asks has less access than ${minAccess}`;
    },
  };
}

export type AccessName = keyof typeof ACCESS;

const ACCESS = { guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const;

interface WireProject {
  path_with_namespace: string;
  visibility: Visibility;
  builds_access_level?: string;
  public_jobs?: boolean;
}

/** Groups and invitations counted in; 0 for who is no member. */
async function readLevel({ api }: GitlabClient, projectId: number, userId: number): Promise<number> {
  try {
    const member = await api.ProjectMembers.show(projectId, userId, { includeInherited: true });
    return member.access_level;
  } catch (error) {
    if (error instanceof NotFoundError) return 0;
    throw error;
  }
}
