import { createPretendGitlab } from '../../../src/demo/gitlab/server.ts';
import { arrangeStory } from '../../../src/demo/story/scene.ts';

/** The scene on a pretend GitLab, and its REST API as the agent's account sees it. */
export async function createStory() {
  const gitlab = await createPretendGitlab();
  const story = arrangeStory(gitlab);
  const token = gitlab.addToken({ userId: story.agent.id, scopes: ['read_api'] });
  const request = async (path: string): Promise<Response> => {
    const response = await fetch(`${gitlab.url}/api/v4/projects/${story.project.id}${path}`, {
      headers: { 'private-token': token },
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}.`);
    return response;
  };
  return {
    gitlab,
    story,
    getJson: async (path: string): Promise<unknown> => (await request(path)).json(),
    getText: async (path: string): Promise<string> => (await request(path)).text(),
    [Symbol.asyncDispose]: () => gitlab.close(),
  };
}
