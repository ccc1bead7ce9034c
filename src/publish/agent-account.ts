import type { GitlabClient } from '../gitlab/client.ts';

export interface Account {
  id: number;
  username: string;
}

export interface AgentAccount {
  /** Who the write token belongs to; asked once. */
  get(signal?: AbortSignal): Promise<Account>;
  /** The same, if it is known already. */
  known(): Account | null;
}

export function createAgentAccount(client: GitlabClient): AgentAccount {
  let account: Account | null = null;
  return {
    async get(signal) {
      if (account) return account;
      const { api } = signal ? client.withSignal(signal) : client;
      const { id, username } = await api.Users.showCurrentUser();
      account = { id, username };
      return account;
    },
    known: () => account,
  };
}
