import { NotFoundError } from '../errors.ts';
import type { GitlabClient } from '../gitlab/client.ts';
import type { AgentAccount } from './agent-account.ts';

export interface ReactionTarget {
  projectId: number;
  mrIid: number;
  /** Without it the merge request itself is meant. */
  noteId?: number;
}

export interface Reactions {
  /** Afterwards the agent's reaction of this name is there, once. */
  ensure(target: ReactionTarget, name: string, signal: AbortSignal): Promise<void>;
  /** Afterwards it is not. */
  remove(target: ReactionTarget, name: string, signal: AbortSignal): Promise<void>;
}

const PAGES = { perPage: 100, maxPages: 10 };

export function createReactions(client: GitlabClient, agent: AgentAccount): Reactions {
  return {
    async ensure(target, name, signal) {
      const bound = client.withSignal(signal);
      const { id } = await agent.get();
      const isThere = async (): Promise<boolean> =>
        (await list(bound, target)).some((award) => award.name === name && award.user.id === id);
      if (await isThere()) return;
      try {
        await award(bound, target, name);
      } catch (error) {
        // GitLab says "not found" both for a second reaction of one name and for a target that is gone.
        if (!(error instanceof NotFoundError) || !(await isThere())) throw error;
      }
    },

    async remove(target, name, signal) {
      const bound = client.withSignal(signal);
      const { id } = await agent.get();
      const given = (await list(bound, target)).find((one) => one.name === name && one.user.id === id);
      if (!given) return;
      try {
        await revoke(bound, target, given.id);
      } catch (error) {
        // Somebody else was faster.
        if (!(error instanceof NotFoundError)) throw error;
      }
    },
  };
}

function list({ api }: GitlabClient, { projectId, mrIid, noteId }: ReactionTarget) {
  return noteId === undefined
    ? api.MergeRequestAwardEmojis.all(projectId, mrIid, PAGES)
    : api.MergeRequestNoteAwardEmojis.all(projectId, mrIid, noteId, PAGES);
}

function award({ api }: GitlabClient, { projectId, mrIid, noteId }: ReactionTarget, name: string) {
  return noteId === undefined
    ? api.MergeRequestAwardEmojis.award(projectId, mrIid, name)
    : api.MergeRequestNoteAwardEmojis.award(projectId, mrIid, noteId, name);
}

function revoke({ api }: GitlabClient, { projectId, mrIid, noteId }: ReactionTarget, awardId: number) {
  return noteId === undefined
    ? api.MergeRequestAwardEmojis.remove(projectId, mrIid, awardId)
    : api.MergeRequestNoteAwardEmojis.remove(projectId, mrIid, noteId, awardId);
}
