// The Konflux source on a pretend Konflux, called through the toolbox as the model calls it.
import { onTestFinished } from 'vitest';
import { createPretendKonflux } from '../../../src/demo/konflux/server.ts';
import { type KonfluxClusterOptions, openKonfluxCluster } from '../../../src/sources/konflux/clusters.ts';
import { createKonfluxSource } from '../../../src/sources/konflux/source.ts';
import type { Source } from '../../../src/sources/source.ts';
import { createToolbox } from '../../services/redactor.ts';
import { createFakeClock } from '../gitlab/gitlab-server.ts';
import { call } from '../tools/calling.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';

export const SHA = 'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678';
export const PROJECT = { id: 42, path: 'group/sub/app' };
export const GITLAB_URL = 'https://gitlab.example.com';
export const MR_IID = 7;

export interface KonfluxSceneOptions {
  sha?: string;
  gitlabUrl?: string;
  otherHosts?: string[];
  cluster?: Partial<KonfluxClusterOptions>;
}

export async function createKonfluxScene({
  sha = SHA,
  gitlabUrl = GITLAB_URL,
  otherHosts = [],
  cluster: changed,
}: KonfluxSceneOptions = {}) {
  const konflux = await createPretendKonflux();
  onTestFinished(() => konflux.close());
  const { token, namespace } = konflux;
  const clock = createFakeClock();
  const cluster = await openKonfluxCluster({
    name: 'prod',
    login: { kind: 'token', url: konflux.cluster.url, token },
    kubearchiveUrl: konflux.archive.url,
    tektonResultsUrl: konflux.results.url,
    token,
    uiUrl: 'https://konflux.example.com',
    timeoutMs: 2_000,
    clock,
    learn: () => undefined,
    ...changed,
  });
  onTestFinished(() => cluster.close());
  const scope = { project: PROJECT, gitlabUrl, otherHosts, mrIid: MR_IID, sha };
  const source = createKonfluxSource([{ cluster, namespace }], scope);
  return { ...konflux, konflux, clock, source, ...asModel(source) };
}

/** A source as the model sees it; inline whatever its size, so that tests see what the model could see. */
export function asModel(source: Source) {
  const sandbox = createMemorySandbox();
  const toolbox = createToolbox({ sandbox, sources: [source], limits: { maxInlineBytes: 10_000_000 } });
  return {
    sandbox,
    toolbox,
    call: (name: string, args?: Record<string, unknown>, signal?: AbortSignal) =>
      call(toolbox, name, args, signal),
    /** The answer itself; fails the test when it is an error. */
    async ask<T = Record<string, unknown>>(name: string, args?: Record<string, unknown>): Promise<T> {
      const { result, isError } = await call(toolbox, name, args);
      if (isError) throw new Error(`${name} failed: ${JSON.stringify(result)}`);
      return result.result as T;
    },
  };
}
