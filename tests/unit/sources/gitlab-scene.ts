// The GitLab source on a pretend GitLab, called through the toolbox as the model calls it.
import { onTestFinished } from 'vitest';
import type { Scope } from '../../../src/demo/gitlab/model.ts';
import type { NewMergeRequest } from '../../../src/demo/gitlab/world/merge-requests.ts';
import type { GitlabClientOptions } from '../../../src/gitlab/client.ts';
import { createGitlabSource } from '../../../src/sources/gitlab/source.ts';
import { createToolbox } from '../../services/redactor.ts';
import { createScene } from '../demo/scene.ts';
import { createClient } from '../gitlab/gitlab-server.ts';
import { call } from '../tools/calling.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';

export interface SourceSceneOptions {
  mr?: Partial<NewMergeRequest>;
  scopes?: readonly Scope[];
  /** Other projects that may be read, by path. */
  readProjects?: readonly string[];
  client?: Partial<GitlabClientOptions>;
}

export async function createSourceScene(options: SourceSceneOptions = {}) {
  const { mr: input, scopes = ['read_api'], readProjects } = options;
  const scene = await createScene();
  onTestFinished(() => scene.gitlab.close());
  const { gitlab, project, dora, bot } = scene;
  const mr = input
    ? gitlab.addMergeRequest({ projectId: project.id, authorId: dora.id, sourceBranch: 'topic', ...input })
    : scene.mr;
  const token = gitlab.addToken({ userId: bot.id, scopes });
  const client = createClient(gitlab.url, { token, ...options.client });
  const source = createGitlabSource(client, {
    projectId: project.id,
    mrIid: mr.iid,
    sha: mr.commits.at(-1) ?? '',
    ...(readProjects && { mayRead: ({ path }) => readProjects.includes(path) }),
  });
  const sandbox = createMemorySandbox();
  // Inline whatever its size, so that tests see what the model could see.
  const wide = createToolbox({ sandbox, sources: [source], limits: { maxInlineBytes: 10_000_000 } });

  return {
    ...scene,
    mr,
    client,
    source,
    sandbox,
    /** The head of the merge request. */
    sha: mr.commits.at(-1) ?? '',
    call: (name: string, args?: Record<string, unknown>, signal?: AbortSignal) =>
      call(wide, name, args, signal),
    /** The answer itself; fails the test when it is an error. */
    async ask<T = Record<string, unknown>>(name: string, args?: Record<string, unknown>): Promise<T> {
      const { result, isError } = await call(wide, name, args);
      if (isError) throw new Error(`${name} failed: ${JSON.stringify(result)}`);
      return result.result as T;
    },
  };
}
