import { randomBytes } from 'node:crypto';
import { createPretendGitlab } from '../../../src/demo/gitlab/server.ts';
import { createGitlabClient } from '../../../src/gitlab/client.ts';
import { createAgentAccount } from '../../../src/publish/agent-account.ts';
import { createMarkers, type Markers } from '../../../src/publish/marker.ts';
import { createNotes, type Notes } from '../../../src/publish/notes.ts';
import { redactor } from '../../services/redactor.ts';

export type Scene = Awaited<ReturnType<typeof createScene>>;

/** A pretend GitLab with Nadia's merge request, and the publisher of the agent's account. */
export async function createScene() {
  const gitlab = await createPretendGitlab();
  const nadia = gitlab.addUser({ username: 'nadia' });
  const agent = gitlab.addUser({ username: 'hummingbird', bot: true });
  const project = gitlab.addProject({
    path: 'shop/checkout',
    members: [nadia, agent].map(({ id }) => ({ userId: id, accessLevel: 30 as const })),
  });
  const addMr = (sourceBranch: string) =>
    gitlab.addMergeRequest({ projectId: project.id, authorId: nadia.id, title: sourceBranch, sourceBranch });
  const mr = addMr('round-prices');
  const client = createGitlabClient({
    url: gitlab.url,
    token: gitlab.addToken({ userId: agent.id, scopes: ['api'] }),
    timeoutMs: 5_000,
    maxRequestsPerMinute: 60_000,
    // Nobody has to wait before a second try.
    clock: { now: () => performance.now(), sleep: async () => undefined },
  });
  const markers = createMarkers([randomBytes(32)]);
  const { signal } = new AbortController();
  const linkHosts = [new URL(gitlab.url).host, 'konflux.test'];
  const ref = { projectId: project.id, iid: mr.iid };

  return {
    gitlab,
    nadia,
    agent,
    project,
    mr,
    ref,
    markers,
    signal,
    linkHosts,
    addMr,
    place: { projectId: project.id, mrIid: mr.iid },
    createNotes: (some: Markers = markers): Notes =>
      createNotes({ client, agent: createAgentAccount(client), markers: some, linkHosts, redactor }),
    analysis: (body: string, sessionId = 's-1') => ({ mr: ref, sessionId, body, signal }),
    /** What stands under the merge request, oldest first. */
    notes: () => gitlab.notes(project.id, mr.iid),
    write: (userId: number, body: string, discussionId?: string) =>
      gitlab.addNote({ ...ref, userId, body, ...(discussionId !== undefined && { discussionId }) }),
    /** Requests so far that change something. */
    writes: () => gitlab.requests.filter(({ method }) => method !== 'GET').map(({ method }) => method),
    async [Symbol.asyncDispose]() {
      await client.close();
      await gitlab.close();
    },
  };
}
