import { setTimeout as sleep } from 'node:timers/promises';
import { PermanentError } from '../errors.ts';
import type { GitlabClient } from '../gitlab/client.ts';
import { type AgentAccount, createAgentAccount } from '../publish/agent-account.ts';
import { type Assembly, createClient } from './assembly.ts';

const RETRY_MS = 2_000;
/** A person has to mend the token first. */
const RETRY_MENDED_MS = 60_000;

export interface ConnectedAgent {
  client: GitlabClient;
  account: AgentAccount;
}

/** The write token's account. Until GitLab told who that is, the webhook can not know the agent's own notes. */
export function connectAgent(assembly: Assembly): ConnectedAgent | null {
  const { secrets, log, onStop } = assembly;
  if (!secrets.gitlabWriteToken) return null;
  const client = createClient(assembly, secrets.gitlabWriteToken);
  const account = createAgentAccount(client);
  const stopping = new AbortController();
  const learn = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await account.get(stopping.signal);
        return;
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.error({ err: error }, "the agent's account is not known yet");
        const waitMs = error instanceof PermanentError ? RETRY_MENDED_MS : RETRY_MS;
        await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  const learning = learn();
  onStop(async () => {
    stopping.abort();
    await learning;
  });
  return { client, account };
}
