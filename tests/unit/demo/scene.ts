import { createPretendGitlab, type PretendGitlabOptions } from '../../../src/demo/gitlab/server.ts';

export type Scene = Awaited<ReturnType<typeof createScene>>;

/** A pretend GitLab with a developer's merge request and a bot that may write. */
export async function createScene(options: PretendGitlabOptions = {}) {
  const gitlab = await createPretendGitlab(options);
  const dora = gitlab.addUser({ username: 'dora', name: 'Dora' });
  const bot = gitlab.addUser({ username: 'hummingbird', name: 'Hummingbird', bot: true });
  const project = gitlab.addProject({
    path: 'group/project',
    members: [
      { userId: dora.id, accessLevel: 30 },
      { userId: bot.id, accessLevel: 30 },
    ],
  });
  const mr = gitlab.addMergeRequest({
    projectId: project.id,
    authorId: dora.id,
    title: 'Add a cache',
    sourceBranch: 'cache',
  });
  const token = gitlab.addToken({ userId: bot.id, scopes: ['api'] });
  const doraToken = gitlab.addToken({ userId: dora.id, scopes: ['api'] });

  const call = async <T = unknown>(path: string, request: Request = {}): Promise<Answer<T>> => {
    const { as = token, method = 'GET', body } = request;
    const response = await fetch(path.startsWith('http') ? path : `${gitlab.url}/api/v4${path}`, {
      method,
      headers: {
        ...(as === null ? {} : { 'private-token': as }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body: parsed };
  };
  return {
    gitlab,
    dora,
    bot,
    project,
    mr,
    token,
    doraToken,
    call,
    mrPath: `/projects/${project.id}/merge_requests/${mr.iid}`,
    [Symbol.asyncDispose]: () => gitlab.close(),
  };
}

/** `as` is a token; `null` sends none. */
type Request = { as?: string | null; method?: string; body?: Readonly<Record<string, unknown>> };

type Answer<T> = { status: number; headers: Headers; body: T };
